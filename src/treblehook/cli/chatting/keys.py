"""What a terminal sends for keys, read as text and named keys."""

import codecs
import re
from typing import Final, Literal

from msgspec import Struct

Name = Literal["enter", "escape", "backspace", "delete", "left", "right", "home", "end", "clear", "word", "end of input"]


class Typed(Struct, frozen=True):
    """Text that was typed or pasted."""

    text: str


class Pressed(Struct, frozen=True):
    """A key that is no text."""

    key: Name


_CONTROLS: Final[dict[str, Name]] = {
    "\r": "enter",
    "\n": "enter",
    "\x01": "home",
    "\x02": "left",
    "\x04": "end of input",
    "\x05": "end",
    "\x06": "right",
    "\x08": "backspace",
    "\x15": "clear",
    "\x17": "word",
    "\x7f": "backspace",
}
_SEQUENCES: Final[dict[str, Name]] = {
    "[D": "left",
    "[C": "right",
    "[H": "home",
    "[F": "end",
    "OD": "left",
    "OC": "right",
    "OH": "home",
    "OF": "end",
    "[1~": "home",
    "[3~": "delete",
    "[4~": "end",
}
_PASTE: Final = ("\x1b[200~", "\x1b[201~")
_WHOLE: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.)")
_BEGUN: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*|O?)\Z")


class KeyReader:
    """Takes what a terminal sends, in pieces of any size. A lone Esc is one only once nothing has followed it: see `unsure`."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    @property
    def unsure(self) -> bool:
        """Whether what has come may be Esc, or the beginning of a longer sequence."""
        return self._rest.startswith("\x1b") and not self._rest.startswith(_PASTE[0])

    def settle(self) -> list[Typed | Pressed]:
        """Nothing followed: it was Esc."""
        if not self.unsure:
            return []
        self._rest = ""
        return [Pressed("escape")]

    def feed(self, data: bytes) -> list[Typed | Pressed]:
        """The keys that are certain now."""
        self._rest += self._decoder.decode(data)
        found = []
        while self._rest and (taken := self._take()) is not None:
            key, length = taken
            self._rest = self._rest[length:]
            if key is not None:
                found.append(key)
        return found

    def _take(self) -> tuple[Typed | Pressed | None, int] | None:
        """The first key and its length; None where more has to come first."""
        text = self._rest
        if text.startswith(_PASTE[0]):
            end = text.find(_PASTE[1])
            return None if end < 0 else (Typed(_pasted(text[len(_PASTE[0]) : end])), end + len(_PASTE[1]))
        if text[0] == "\x1b":
            return self._take_escape(text)
        if not _is_text(text[0]):
            key = _CONTROLS.get(text[0])
            return (None if key is None else Pressed(key)), 1
        length = next((at for at, character in enumerate(text) if not _is_text(character)), len(text))
        return Typed(text[:length]), length

    def _take_escape(self, text: str) -> tuple[Typed | Pressed | None, int] | None:
        if whole := _WHOLE.match(text):
            key = _SEQUENCES.get(whole[1])
            return (None if key is None else Pressed(key)), whole.end()
        return None if _BEGUN.match(text) else (Pressed("escape"), 1)


def _is_text(character: str) -> bool:
    return character >= " " and character != "\x7f"


def _pasted(text: str) -> str:
    """Pasted text; it keeps its line ends and loses what a terminal would obey."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return "".join(character for character in lines if character == "\n" or _is_text(character))
