"""What a piece of shell text may spell: the paths of its words, once quotes, variables, braces and `~` are gone.

It reads more than a shell would: also what stands in quotes, behind a `=` or a `:`, in a script inside a script, in a here-document.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from treblehook.host.agents import user_home
from treblehook.shell.bash.word import UNSEEN

_MOST: Final = 64
"""How many spellings of one word are looked at; of more, the parts in which they differ count as any text."""
_DEEPEST: Final = 12

_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_WORD = re.compile(r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|[^\s;&|<>()'\"\\`]+)+", re.DOTALL)
_QUOTING = re.compile(r"\$?\"((?:[^\"\\]|\\.)*)\"|\$?'([^']*)'|\\\n|\\(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\\"$`])")
_QUOTED = re.compile(r"[\s'\"]")
_PLAIN = re.compile(r"[\w./+][\w./+-]*")
_SPLIT = re.compile(r"[\s=:,@{}'\"()<>|&;`+]+")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\}|\{[!#]?(\w+)[^}]*\}|[@*#?$!-])")
_BRACES = re.compile(r"\{([^{}]*(?:,|\.\.)[^{}]*)\}")
_TILDE = re.compile(r"~([\w.+-]*)(?=/|\Z)")
_ASSIGNED = re.compile(rf"(?<![\w$])([A-Za-z_]\w*)(\+?)=({_WORD.pattern})", re.DOTALL)
_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\s+([^;\n]*)")
_WORKING_FOLDER: Final = frozenset({"PWD", "OLDPWD"})


def words_of(text: str) -> Iterator[str]:
    """The words of a command line or of any other text, in order; one that holds more is followed by what it holds."""
    for part in _without_substitutions(text):
        yield from _words(part, 0)


def _words(text: str, depth: int) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = _unquoted(found[0])
        yield word
        if depth < _DEEPEST and word != found[0] and _QUOTED.search(word):
            yield from _words(word, depth + 1)


def _unquoted(word: str) -> str:
    """A word without its own quotes; those inside of them stay."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    return _QUOTING.sub(lambda found: _ESCAPED.sub(r"\1", found[1]) if found[1] else found[2] or found[3] or "", word)


def _without_substitutions(text: str) -> list[str]:
    """The text with each command substitution unseen, and then what stands in them."""
    if "$(" not in text and "`" not in text:
        return [text]
    inner: list[str] = []
    for _ in range(_DEEPEST):
        found = [outer or ticked for outer, ticked in _INNER.findall(text)]
        if not found:
            break
        inner.extend(found)
        text = _INNER.sub(UNSEEN, text)
    return [text, *inner]


class Spelling:
    """Paths of words, with the variables of `environ` and those that a command line sets itself."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.home = user_home(environ)
        self._values: dict[str, dict[str, None]] = {"HOME": {self.home: None}}

    def learn(self, text: str) -> None:
        """Take note of what the command line gives to variables, in the order of the text."""
        for part in _without_substitutions(text):
            for name, added, value in _ASSIGNED.findall(part):
                for before in [*self._values.get(name, ())] if added else [""]:
                    self._set(name, value, before)
            for name, values in _LOOP.findall(part):
                for value in values.split():
                    self._set(name, value)

    def _set(self, name: str, value: str, before: str = "") -> None:
        values = self._values.setdefault(name, {})
        if len(values) > _MOST:
            return
        for known in self._expanded(_unquoted(value)):
            # One of too many may be any.
            values[before + known if len(values) < _MOST else UNSEEN] = None

    def paths(self, word: str) -> dict[str, None]:
        """The paths that a word may be or hold."""
        if _PLAIN.fullmatch(word):
            return {word: None}
        found: dict[str, None] = {}
        for text in self._expanded(word):
            found[self._at_home(text)] = None
            for piece in _SPLIT.split(text):
                if piece:
                    found[self._at_home(piece)] = None
                if len(piece) > 2 and piece[0] == "-" and piece[1] != "-":
                    # The value of an option may stand right behind its letter.
                    found[self._at_home(piece[2:])] = None
        return found

    def _expanded(self, word: str) -> list[str]:
        texts = self._with_values(word) if "$" in word else [word]
        return [braced for text in texts for braced in _braced(text)] if "{" in word else texts

    def _with_values(self, word: str) -> list[str]:
        literal: list[str] = []
        choices: list[list[str]] = []
        end, count = 0, 1
        for found in _VARIABLE.finditer(word):
            options = self._options(found)
            count *= len(options)
            literal.append(word[end : found.start()])
            choices.append(options)
            end = found.end()
        if count > _MOST:
            return [_VARIABLE.sub(UNSEEN, word)]
        literal.append(word[end:])
        return ["".join(map("".join, zip(literal, [*values, ""], strict=True))) for values in product(*choices)]

    def _options(self, variable: re.Match[str]) -> list[str]:
        name = variable[1] or variable[2] or variable[3] or ""
        if name in _WORKING_FOLDER:
            return ["."]
        values = list(self._values.get(name, ()))
        if name in self._environ and self._environ[name] not in values:
            values.append(self._environ[name])
        # `${NAME...}` makes something else of the value.
        return [*values, UNSEEN] if variable[3] or not values else values

    def _at_home(self, text: str) -> str:
        if not text.startswith("~") or (found := _TILDE.match(text)) is None:
            return text
        name = found[1]
        if name in ("", self.home.rpartition("/")[2]):
            return self.home + text[found.end() :]
        return ("." if name in ("+", "-") else UNSEEN) + text[found.end() :]


def _braced(word: str) -> list[str]:
    """The word with its lists in braces written out."""
    done: list[str] = []
    left = [word]
    while left:
        text = left.pop()
        found = _BRACES.search(text)
        if found is None:
            done.append(text)
            continue
        options = found[1].split(",") if "," in found[1] else [UNSEEN]
        if len(done) + len(left) + len(options) > _MOST:
            return [_unseen_braces(word)]
        left.extend(text[: found.start()] + option + text[found.end() :] for option in options)
    return done


def _unseen_braces(word: str) -> str:
    while True:
        word, count = _BRACES.subn(UNSEEN, word)
        if not count:
            return word
