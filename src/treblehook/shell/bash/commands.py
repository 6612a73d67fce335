"""Splits a command line into its simple commands: those of lists, pipelines, compound commands and substitutions alike.

It does not check grammar. It finds every place where bash may begin a command, and gives up (`Unreadable`) where it cannot
tell. Words are bash manual, 3.2; `RESERVED` words only open and close, so they are passed over.
"""

import re
from typing import Final

from msgspec import Struct

from treblehook.shell.bash.cursor import Cursor
from treblehook.shell.bash.word import UNSEEN, Unreadable, Word
from treblehook.shell.bash.words import DEEPEST, WordReader

RESERVED: Final = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"})
PREFIXES: Final = frozenset({"time", "coproc"})
"""Reserved words that are kept as the first word of what they stand before."""

_REDIRECTION = re.compile(r"(?:[0-9]+|\{\w+\})?(<<<|<<-|<<|<>|<&|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)")
_DUPLICATE = re.compile(r"[0-9]+-?|-")
_LOCAL_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_CONTINUES = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")


class Simple(Struct):
    """A simple command: `words` without redirections and leading `assignments`, `source` with them.

    `alone` is false where more than its words decides what it does: an assignment, a file it reads or writes. `writes` are the files
    that its output is redirected to, `fed` the texts of its here-documents and here-strings.
    """

    words: list[Word]
    assignments: list[Word]
    source: str = ""
    alone: bool = True
    writes: list[Word] = []
    fed: list[str] = []


class Found(Struct):
    """What a command line holds. `bodies` are the texts of all here-documents and here-strings; `defines` is true where it gives
    a name another meaning (a function, a coprocess, a loop over a variable that other programs read), `computes` where something is run
    or computed for any word of it, here-documents and the words of loops and `case` included."""

    commands: list[Simple]
    bodies: list[str]
    defines: bool = False
    computes: bool = False


class HereDocument(Struct):
    """A here-document of `command` whose body begins at the next line."""

    command: Simple
    delimiter: str
    indented: bool
    quoted: bool


class Splitter:
    """Reads `text` into `found`. `depth` counts the texts that this one stands in."""

    def __init__(self, text: str, found: Found, depth: int = 0) -> None:
        self._cursor = Cursor(text)
        self._found = found
        self._depth = depth
        self._words = WordReader(self._cursor, self._nested, self._other)
        self._pending: list[HereDocument] = []
        self._cases = 0

    def run(self) -> None:
        """Read all of it. Raises `Unreadable`; what was found before stays in `found`."""
        self._script(closing="")
        self._found.computes |= self._words.computes

    def expand(self) -> None:
        """Read all of it as the body of a here-document, in which only expansions run anything. Raises `Unreadable`."""
        self._words.expansions()
        self._found.computes |= self._words.computes

    def _nested(self) -> None:
        """Commands up to the parenthesis that closes them; here-documents and `case` are their own."""
        outer = self._pending, self._cases
        self._pending, self._cases = [], 0
        self._deeper()
        self._script(closing=")")
        self._depth -= 1
        self._pending, self._cases = outer

    def _other(self, text: str) -> None:
        self._deeper()
        Splitter(text, self._found, self._depth).run()
        self._depth -= 1

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable("nested too deeply")

    def _script(self, closing: str) -> None:
        cursor = self._cursor
        while True:
            self._skip()
            character = cursor.next
            if character in ("", ")"):
                if character != closing or self._cases or self._pending:
                    raise Unreadable("something is not closed" if character == "" else "a ) closes nothing")
                cursor.take()
                return
            if character == "\n":
                self._line_end()
            elif character == "(":
                self._parenthesis()
            elif character in (";", "|") or (character == "&" and not cursor.starts("&>")):
                self._operator()
            else:
                self._command()

    def _skip(self) -> None:
        """Blanks, then a comment."""
        cursor = self._cursor
        cursor.skip_blanks()
        if cursor.next == "#":
            end = cursor.text.find("\n", cursor.at)
            cursor.at = len(cursor.text) if end < 0 else end

    def _skip_lines(self) -> None:
        self._skip()
        while self._cursor.next == "\n":
            self._line_end()
            self._skip()

    def _line_end(self) -> None:
        """Pass over a line end and the here-documents that begin behind it."""
        self._cursor.at += 1
        pending, self._pending = self._pending, []
        for document in pending:
            self._body(document)

    def _body(self, document: HereDocument) -> None:
        cursor = self._cursor
        start = cursor.at
        while cursor.at < len(cursor.text):
            line_start = cursor.at
            lines = [self._line()]
            while not document.quoted and _CONTINUES.search(lines[-1]) and cursor.next:
                lines.append(self._line())
            if document.delimiter in (line.lstrip("\t") if document.indented else line for line in (*lines, _joined(lines))):
                if len(lines) > 1:
                    raise Unreadable("whether a here-document ends at a continued line, shells disagree")
                document.command.fed.append(cursor.text[start:line_start])
                self._keep_body(cursor.text[start:line_start], document.quoted)
                return
        raise Unreadable("a here-document does not end")

    def _line(self) -> str:
        """The rest of the line at the cursor, without its end, passed over."""
        cursor = self._cursor
        start, end = cursor.at, cursor.text.find("\n", cursor.at)
        cursor.at = len(cursor.text) if end < 0 else end + 1
        return cursor.text[start : cursor.at].removesuffix("\n")

    def _keep_body(self, body: str, quoted: bool) -> None:
        self._found.bodies.append(body)
        if not quoted:
            Splitter(body, self._found, self._depth).expand()

    def _parenthesis(self) -> None:
        cursor = self._cursor
        start = cursor.at
        if cursor.starts("((") and self._words.arithmetic():
            arithmetic = Word("((", "((", "((")
            self._found.commands.append(Simple([arithmetic], [], cursor.text[start : cursor.at]))
        else:
            cursor.at = start + 1
            self._nested()

    def _operator(self) -> None:
        cursor = self._cursor
        if cursor.starts(";;") or cursor.starts(";&"):
            cursor.at += 3 if cursor.starts(";;&") else 2
            self._case_pattern()
        else:
            cursor.at += 1

    def _case_pattern(self) -> None:
        """Pass over the pattern of a `case` up to its parenthesis, or over the `esac` in its place."""
        if not self._cases:
            raise Unreadable("a pattern outside case")
        cursor = self._cursor
        self._skip_lines()
        if cursor.next == "(":
            cursor.at += 1
        elif self._take_word("esac"):
            self._cases -= 1
            return
        while True:
            self._skip()
            if cursor.next in (")", "|"):
                if cursor.take() == ")":
                    return
            else:
                self._words.read()

    def _take_word(self, raw: str) -> bool:
        """Pass over the next word if it is `raw`."""
        cursor = self._cursor
        start = cursor.at
        if cursor.starts(raw) and self._words.read().raw == raw:
            return True
        cursor.at = start
        return False

    def _command(self) -> None:
        """Read from a place where a command begins up to its end, or over the reserved word that stands there."""
        cursor = self._cursor
        command = Simple([], [])
        start = cursor.at
        while True:
            self._skip()
            if redirection := _REDIRECTION.match(cursor.text, cursor.at):
                self._redirection(redirection, command)
            elif cursor.next in ("", "\n", ";", "&", "|", ")"):
                break
            elif cursor.next == "(":
                if not command.words or command.words[0].raw in PREFIXES:
                    break
                self._definition(command)
            else:
                word = self._words.read()
                if not command.words and command.alone and self._reserved(word.raw):
                    return
                if not command.words and word.assigns:
                    command.alone = False
                    command.assignments.append(word)
                else:
                    command.words.append(word)
                if word.raw == "[[" and len(command.words) == 1:
                    self._condition()
        command.source = cursor.text[start : cursor.at].strip(" \t")
        self._found.commands.append(command)

    def _reserved(self, raw: str) -> bool:
        """Read what a reserved word brings with it; False where `raw` is an ordinary word."""
        if raw in ("for", "select"):
            self._loop_head()
        elif raw == "case":
            self._skip()
            self._words.read()
            self._skip_lines()
            if not self._take_word("in"):
                raise Unreadable("case without in")
            self._cases += 1
            self._case_pattern()
        elif raw == "esac" and self._cases:
            self._cases -= 1
        elif raw == "function":
            self._found.defines = True
            self._skip()
            self._words.read()
            self._skip()
            if self._cursor.next == "(":
                self._definition(Simple([], []))
        elif raw not in RESERVED:
            return False
        return True

    def _loop_head(self) -> None:
        """`NAME in WORD...`, or `((...))`; the words of a loop are no command."""
        cursor = self._cursor
        self._skip()
        if cursor.starts("(("):
            self._parenthesis()
            return
        if not _LOCAL_NAME.fullmatch(self._words.read().raw):
            self._found.defines = True
        self._skip_lines()
        if self._take_word("in"):
            self._skip()
            values = Simple([], [])
            while cursor.next not in ("", ";", "\n"):
                values.assignments.append(self._words.read())
                self._skip()
            self._found.commands.append(values)

    def _definition(self, command: Simple) -> None:
        """Pass over the `()` behind the name of a function; its body follows as a command."""
        cursor = self._cursor
        self._found.defines = True
        cursor.at += 1
        self._skip()
        if cursor.take() != ")" or len(command.words) > 1:
            raise Unreadable("a parenthesis inside a command")
        command.words.clear()

    def _condition(self) -> None:
        """Pass over the rest of `[[ ... ]]`, in which operators are words."""
        cursor = self._cursor
        self._skip_lines()
        while not self._take_word("]]"):
            if not cursor.next:
                raise Unreadable("]] is missing")
            if cursor.next in "()<>&|" and not cursor.starts("<(") and not cursor.starts(">("):
                cursor.at += 1
            else:
                self._words.read()
            self._skip_lines()

    def _redirection(self, found: re.Match[str], command: Simple) -> None:
        cursor = self._cursor
        cursor.at = found.end()
        self._skip()
        target = self._words.read()
        if found[1] in ("<<", "<<-"):
            if UNSEEN in target.seen:
                raise Unreadable("a here-document's end cannot be seen")
            self._pending.append(HereDocument(command, target.text, found[1] == "<<-", quoted=target.raw != target.text))
        elif found[1] == "<<<":
            command.fed.append(target.text)
            self._found.bodies.append(target.text)
        elif not (found[1] in (">&", "<&") and _DUPLICATE.fullmatch(target.text)) and target.text != "/dev/null":
            command.alone = False
            if ">" in found[1]:
                command.writes.append(target)


def _joined(lines: list[str]) -> str:
    """Continued lines as one."""
    return "".join(line.removesuffix("\\") for line in lines[:-1]) + lines[-1]
