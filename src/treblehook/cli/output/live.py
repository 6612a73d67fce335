"""What a running tool has said last."""

from collections.abc import Hashable
from typing import Final

from treblehook.cli.output.safe_text import safe

_LONGEST: Final = 10_000


class Live:
    """The newest lines of the tool that spoke last; another speaker starts anew."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._speaker: Hashable = None
        self._tail = ""

    def say(self, speaker: Hashable, text: str, most: int) -> None:
        """`speaker` says more; `lines` are its last ones then, at most so many."""
        if speaker != self._speaker:
            self.clear()
            self._speaker = speaker
        self._tail = (self._tail + text)[-_LONGEST:]
        whole = safe(self._tail).strip("\n").split("\n")
        self.lines = whole[-most:] if most and any(whole) else []

    def clear(self) -> None:
        """Nobody speaks."""
        self.lines = []
        self._speaker = None
        self._tail = ""
