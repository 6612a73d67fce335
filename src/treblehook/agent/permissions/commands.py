"""What the rules for commands see of a command line: everything that it would run, and what of that cannot be known before."""

import re
from collections.abc import Iterable, Sequence
from itertools import dropwhile

from msgspec.structs import replace

from treblehook.agent.permissions.argument import Argument
from treblehook.shell.bash import programs
from treblehook.shell.bash.commands import Found, Simple, Splitter
from treblehook.shell.bash.word import UNSEEN, Unreadable, Word

# No shell can be started with a longer one (MAX_ARG_STRLEN). What is read and kept of it is bounded too, since a command
# can name itself in itself many times over.
_LONGEST = 128 * 1024
_BUDGET = 512 * 1024
_LONGEST_UNSEEN = 4096
_DEEPEST = 16
_MOST_WRAPPED = 16

# Escapes of a prompt in a value are obeyed, then what came of them is expanded.
_PROMPTS = re.compile(r"\$\{[^}]*@P\}")
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
# With one of these in it, a word that may be a command of its own is more than its name.
_MEANT = frozenset(" \t\n;&|<>()`'\"\\")


def read_command(text: str) -> Argument:
    """`text` as bash would take it apart, or as sh would where the two differ."""
    # Where a line end behind a backslash counts depends on what stands around it; sh takes `&>` for `&` and `>`.
    # To sh the quotes of $'...' are plain ones.
    spellings = dict.fromkeys((text, _CONTINUED.sub(r"\1", text), text.replace("&>", "& >"), text.replace("$'", "\\$'")))
    readings = [_Reading(spelling) for spelling in spellings]
    covered = all(reading.covered for reading in readings)
    return Argument(
        forms=tuple(dict.fromkeys(form for reading in readings for form in reading.forms)),
        parts=tuple((part,) for reading in readings for part in reading.parts) if covered else (),
        loose=tuple(dict.fromkeys(form for reading in readings for form in reading.loose)),
        unseen=tuple(dict.fromkeys(form for reading in readings for form in reading.unseen)),
        command=True,
    )


class _Reading:
    """One spelling of a command line, read. `covered` is false where no allow rule with a pattern can hold."""

    def __init__(self, text: str) -> None:
        self.forms: dict[str, None] = {text: None, text.strip(): None}
        self.parts: list[str] = []
        self.loose: dict[str, None] = {}
        self.unseen: dict[str, None] = {}
        self.covered = True
        self._text = text
        self._read: set[str] = set()
        self._budget = _BUDGET
        self._exhausted = False
        self._depth = 0
        self._feeds_shell = False
        if UNSEEN in text or len(text) > _LONGEST:
            self._give_up(text.replace(UNSEEN, ""))
        else:
            self._script(text)

    def _script(self, text: str, *, guess: bool = False, document: bool = False) -> None:
        """Read a text that runs as commands; as a `guess`, one that may be anything; in a `document` only expansions run."""
        if text in self._read or not self._affords(len(text)):
            return
        self._read.add(text)
        self._depth += 1
        covered = self.covered
        found = Found([], [])
        splitter = Splitter(text, found)
        try:
            if document:
                splitter.expand()
            else:
                splitter.run()
        except Unreadable:
            if not guess:
                self._give_up(text)
        self.covered &= not (found.defines or found.computes)
        if _PROMPTS.search(text):
            self.unseen[UNSEEN] = None
        for command in found.commands:
            self._command(command)
        if self._feeds_shell:
            for body in found.bodies:
                self._script(body)
        if guess:
            # It may be no command at all; whether it is covered, its wrapper's rule says.
            self.covered = covered
        self._depth -= 1

    def _affords(self, characters: int) -> bool:
        """Whether so much more may be read at this depth; otherwise all of the command line is given up."""
        if self._exhausted:
            return False
        self._budget -= characters
        self._exhausted = self._budget < 0 or self._depth >= _DEEPEST
        if self._exhausted:
            self._give_up(self._text)
        return not self._exhausted

    def _give_up(self, text: str) -> None:
        """Nothing is known of `text`: a denial holds if it is anywhere in it."""
        self.covered = False
        self._add_loose(text)
        self._add_loose(re.sub(r"""\\\n|['"\\]""", "", text))
        self.unseen[UNSEEN] = None

    def _add_loose(self, text: str) -> None:
        self.loose[text] = None
        self.loose[f"{text} "] = None

    def _command(self, command: Simple) -> None:
        words = command.words
        self._computing(command.assignments)
        self.covered &= command.alone
        if command.source:
            self.forms[command.source] = None
        if not words:
            return
        # A name that is quoted or expanded is not what an allow rule names.
        self.covered &= words[0].raw == words[0].seen
        if self._depth == 1:
            self.parts.append(" ".join(word.raw for word in words))
        if words[0].raw in programs.CONDITIONS:
            self._add_loose(command.source)
            if "$" not in command.source:
                self._script(command.source[2:-2], guess=True)
        self._program(words)

    def _program(self, words: Sequence[Word]) -> None:
        """A command of plain words."""
        if not self._affords(sum(len(word.raw) for word in words)):
            return
        self.forms.update(_spellings(word.raw for word in words))
        self.forms.update(_spellings(word.text for word in words))
        self.forms.update(_spellings(word.bare for word in words))
        self._doubtful(words)
        if UNSEEN in words[0].seen.rpartition("/")[2]:
            self.unseen[UNSEEN] = None
        # While its variables are unset, a word that is nothing else is not there.
        named = list(dropwhile(lambda word: not word.bare, words))
        if not named:
            return
        self._depth += 1
        if programs.name_of(named[0]) in programs.WRAPPERS:
            self._wrapper(named)
        else:
            self._named(named)
        self._depth -= 1

    def _doubtful(self, words: Sequence[Word]) -> None:
        if not _any_unseen(words):
            return
        length = sum(len(word.seen) for word in words)
        if length > _LONGEST_UNSEEN:
            self.unseen[UNSEEN] = None
        elif self._affords(length):
            self.unseen.update(_spellings(word.seen for word in words))

    def _wrapper(self, words: Sequence[Word]) -> None:
        """A command that runs what follows in its words."""
        for texts in ([word.raw for word in words], [word.text for word in words], [word.bare for word in words]):
            self._add_loose(" ".join(texts))
        for word in words[1:]:
            if not _MEANT.isdisjoint(word.seen):
                self._script(word.text, guess=True)
        latest = programs.latest_start(words)
        if programs.hides_command(words) or latest > _MOST_WRAPPED:
            self.unseen[UNSEEN] = None
        else:
            for start in range(1, latest + 1):
                self._doubtful(words[start:])
        special = [index for index, word in enumerate(words) if programs.name_of(word) in _SPECIAL]
        for index in {special[0], special[-1]} if special else ():
            self._named(words[index:])

    def _named(self, words: Sequence[Word]) -> None:
        """A command whose name says that it runs other commands."""
        name = programs.name_of(words[0])
        if name in programs.SHELLS:
            self._shell(words)
        elif name in programs.EVALUATORS:
            self._evaluator(words)
        elif name in programs.SOURCES:
            if programs.sources_stdin(words) or _any_unseen(words):
                self._shell_input()
        elif name == "xargs":
            self._xargs(words)
        elif name == "parallel":
            self.unseen[UNSEEN] = None
        elif name == "find":
            for command in programs.executed_by_find(words):
                self.covered = False
                self._program([_input_in(word, "{}") for word in command])
        elif name == "git":
            for value in programs.settings_of_git(words):
                self._script(value, guess=True)
        elif name in programs.COMPUTING:
            self._computing(words[1:])

    def _shell(self, words: Sequence[Word]) -> None:
        if _any_unseen(words[1:]):
            self.covered = False
            self.unseen[UNSEEN] = None
        if programs.has_command_option(words):
            self.covered = False
            for word in words[1:]:
                self._script(word.text, guess=word.text.startswith("-"))
        elif programs.reads_stdin(words):
            self._shell_input()

    def _shell_input(self) -> None:
        """Commands come from what only the running command line knows."""
        self._feeds_shell = True
        self._give_up(self._text)

    def _evaluator(self, words: Sequence[Word]) -> None:
        self.covered = False
        if _any_unseen(words) or programs.name_of(words[0]) in programs.RENAMING:
            self.unseen[UNSEEN] = None
        self._script(" ".join(word.text for word in words[1:]))
        for word in words[1:]:
            self._script(word.text.partition("=")[2] or word.text, guess=True)

    def _xargs(self, words: Sequence[Word]) -> None:
        found = programs.run_by_xargs(words)
        if found is None:
            self.unseen[UNSEEN] = None
            return
        command, replaced = found
        if command:
            self._program([_input_in(word, replaced) for word in command] if replaced else [*command, Word("", "", UNSEEN)])

    def _computing(self, words: Sequence[Word]) -> None:
        """Words that are perhaps expanded once more."""
        for word in words:
            if "$(" in word.text or "`" in word.text:
                self.covered = False
                self._script(word.text, guess=True, document=True)


_SPECIAL = programs.SHELLS | programs.EVALUATORS | programs.SOURCES | programs.COMPUTING | {"xargs", "parallel", "find", "git"}


def _any_unseen(words: Sequence[Word]) -> bool:
    return any(UNSEEN in word.seen for word in words)


def _input_in(word: Word, replaced: str) -> Word:
    """The word with every `replaced` unseen."""
    return replace(word, seen=word.seen.replace(replaced, UNSEEN))


def _spellings(words: Iterable[str]) -> dict[str, None]:
    """A command by its name as given and without its folder, and as if one more blank followed (for rules that end in ` *`)."""
    pieces = [piece for piece in words if piece]
    if not pieces:
        return {}
    as_given = " ".join(pieces)
    by_name = " ".join([pieces[0].rpartition("/")[2], *pieces[1:]])
    return dict.fromkeys((as_given, f"{as_given} ", by_name, f"{by_name} "))
