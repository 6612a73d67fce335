"""Reads one word: quotes, escapes and everything that a shell expands (bash manual, 3.1.2 and 3.5)."""

import re
from collections.abc import Callable
from typing import Literal

from treblehook.shell.bash.cursor import Cursor
from treblehook.shell.bash.word import Unreadable, Word, WordBuilder

DEEPEST = 12
"""How deeply expansions may nest."""

_ENDS = frozenset(" \t\n;&|<>()")
_PLAIN = re.compile(r"""[^\s;&|<>()'"\\$`*?\[{},~]+""")
_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_SIMPLE_PARAMETER = re.compile(r"\$\{[A-Za-z0-9_]+\}")
_BRACKETS = re.compile(r"\[[^\s;&|<>()]*\]")
_TILDE = re.compile(r"~[\w.+-]*")
_BACKTICK = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ANSI_C = re.compile(r"((?:[^'\\]|\\.)*)'", re.DOTALL)
_ANSI_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_NAMED = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

Quotes = Literal["read", "plain", "refused"]
"""What quotes are in a region: quotes; ordinary characters; or refused, because their meaning depends on what stands around."""


class WordReader:
    """Reads words at `cursor`. `script` reads commands at the cursor up to and with their closing parenthesis, `other` reads
    the commands of another text; both are for substitutions. `computes` is true once something was run or computed for a word."""

    def __init__(self, cursor: Cursor, script: Callable[[], None], other: Callable[[str], None]) -> None:
        self._cursor = cursor
        self._script = script
        self._other = other
        self._depth = 0
        self.computes = False

    def read(self) -> Word:
        """The word at the cursor. Raises `Unreadable` where there is none, or one that does not end."""
        cursor = self._cursor
        start = cursor.at
        build = WordBuilder()
        while cursor.next:
            if cursor.starts("<(") or cursor.starts(">("):
                self._substitution(build, 2)
            elif cursor.next == "(" and build.assigning:
                self._substitution(build, 1)
            elif cursor.next in _ENDS:
                break
            else:
                self._piece(build, first=cursor.at == start)
        if cursor.at == start:
            raise Unreadable("a word is missing")
        return build.done(cursor.text[start : cursor.at])

    def expansions(self) -> None:
        """Read the rest of the text as a here-document: expansions count, quotes do not."""
        self._region(WordBuilder(), "", "", "plain")

    def arithmetic(self) -> bool:
        """Pass over `((...))` at the cursor; False, and nothing passed over, where it is not arithmetic."""
        cursor = self._cursor
        start = cursor.at
        cursor.at += 2
        self._region(WordBuilder(), "(", ")", "refused")
        if cursor.next == ")":
            cursor.at += 1
            self.computes = True
            return True
        cursor.at = start
        return False

    def _piece(self, build: WordBuilder, *, first: bool) -> None:
        cursor = self._cursor
        character = cursor.next
        if plain := _PLAIN.match(cursor.text, cursor.at):
            build.known(cursor.take(len(plain[0])))
        elif first and character == "~" and (tilde := _TILDE.match(cursor.text, cursor.at)):
            build.folder(cursor.take(len(tilde[0])))
        elif character in ("*", "?") or (character == "[" and _BRACKETS.match(cursor.text, cursor.at)):
            build.unseen(cursor.take())
        elif character in ("{", ",", "}"):
            build.brace(cursor.take())
        elif not self._special(build, "read"):
            build.known(cursor.take())

    def _special(self, build: WordBuilder, quotes: Quotes) -> bool:
        """Read what quotes, escapes or expands at the cursor; False where there is no such thing."""
        cursor = self._cursor
        character = cursor.next
        if character == "\\":
            self._escape(build)
        elif character == "$":
            self._dollar(build, quoted=quotes != "read")
        elif character == "`":
            self._backtick(build, quoted=quotes != "read")
        elif character in ("'", '"') and quotes == "refused":
            raise Unreadable("quotes inside arithmetic or a quoted parameter")
        elif character == "'" and quotes == "read":
            build.known(self._until_quote())
        elif character == '"' and quotes == "read":
            self._double_quoted(build)
        else:
            return False
        return True

    def _escape(self, build: WordBuilder) -> None:
        escaped = self._cursor.take(2)[1:]
        if escaped != "\n":
            build.known(escaped or "\\")

    def _until_quote(self) -> str:
        start = self._cursor.at + 1
        end = self._cursor.text.find("'", start)
        if end < 0:
            raise Unreadable("a single quote does not end")
        self._cursor.at = end + 1
        return self._cursor.text[start:end]

    def _double_quoted(self, build: WordBuilder) -> None:
        cursor = self._cursor
        cursor.at += 1
        while cursor.next != '"':
            if not cursor.next:
                raise Unreadable("a double quote does not end")
            kept = cursor.next == "\\" and cursor.text[cursor.at + 1 : cursor.at + 2] not in ("$", "`", '"', "\\", "\n")
            if kept or not self._special(build, "plain"):
                build.known(cursor.take())
        cursor.at += 1

    def _dollar(self, build: WordBuilder, *, quoted: bool) -> None:
        cursor = self._cursor
        start = cursor.at
        if cursor.starts("$["):
            raise Unreadable("$[...] is read differently by different shells")
        if cursor.starts("$(("):
            cursor.at += 1
            if self.arithmetic():
                build.unseen(cursor.text[start : cursor.at])
                return
            cursor.at = start
        if cursor.starts("$("):
            self._substitution(build, 2)
        elif cursor.starts("${"):
            self._parameter(build, quoted=quoted)
        elif cursor.starts("$'") and not quoted:
            self._ansi_c(build)
        elif cursor.starts('$"') and not quoted:
            cursor.at += 1
            self._double_quoted(build)
        elif parameter := _PARAMETER.match(cursor.text, cursor.at):
            build.unseen(cursor.take(len(parameter[0])))
        else:
            build.known(cursor.take())

    def _substitution(self, build: WordBuilder, opening: int) -> None:
        start = self._cursor.at
        self._cursor.at += opening
        self._script()
        self.computes = True
        build.unseen(self._cursor.text[start : self._cursor.at])

    def _parameter(self, build: WordBuilder, *, quoted: bool) -> None:
        cursor = self._cursor
        start = cursor.at
        if simple := _SIMPLE_PARAMETER.match(cursor.text, start):
            build.unseen(cursor.take(len(simple[0])))
            return
        cursor.at += 2
        self._region(WordBuilder(), "", "}", "refused" if quoted else "read")
        self.computes = True
        build.unseen(cursor.text[start : cursor.at])

    def _backtick(self, build: WordBuilder, *, quoted: bool) -> None:
        cursor = self._cursor
        found = _BACKTICK.match(cursor.text, cursor.at)
        if found is None:
            raise Unreadable("a backtick does not end")
        self._other(re.sub(r'\\([\\`$"])' if quoted else r"\\([\\`$])", r"\1", found[1]))
        self.computes = True
        build.unseen(cursor.take(len(found[0])))

    def _ansi_c(self, build: WordBuilder) -> None:
        cursor = self._cursor
        found = _ANSI_C.match(cursor.text, cursor.at + 2)
        if found is None:
            raise Unreadable("$'...' does not end")
        value = _ANSI_ESCAPE.sub(lambda escape: _ansi_character(escape[1]), found[1]).partition("\0")[0]
        if value.isascii():
            build.known(value)
        else:
            build.unseen(value)
        cursor.at = found.end()

    def _region(self, build: WordBuilder, opening: str, closing: str, quotes: Quotes) -> None:
        """Read up to and with the `closing` that has no `opening`; to the end of the text without a `closing`."""
        cursor = self._cursor
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable("nested too deeply")
        depth = 1
        while cursor.next:
            if cursor.next == closing:
                depth -= 1
                cursor.at += 1
                if depth == 0:
                    self._depth -= 1
                    return
            elif quotes == "read" and (cursor.starts("<(") or cursor.starts(">(")):
                self._substitution(build, 2)
            elif not self._special(build, quotes):
                depth += cursor.take() == opening
        if closing:
            raise Unreadable(f"{closing} is missing")


def _ansi_character(escape: str) -> str:
    if escape[0] in "xuU" and len(escape) > 1:
        code = int(escape[1:], 16)
    elif escape[0] in "01234567":
        code = int(escape, 8) & 0xFF
    elif escape[0] == "c" and len(escape) > 1:
        code = ord(escape[1]) & 0x1F
    else:
        return _ANSI_NAMED.get(escape, escape if escape in "\\'\"?" else f"\\{escape}")
    if code > 0x10FFFF:
        raise Unreadable("a character that does not exist")
    return chr(code)
