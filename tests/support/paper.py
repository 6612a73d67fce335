"""What a terminal would show: as much of one as the screen of a session uses."""

import re

_PIECE = re.compile(r"\x1b\[(\d*)([A-Z])|\r|\n|[^\x1b\r\n]+")


class Paper:
    """Endless downwards, `width` characters wide. Takes what is written to a terminal."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: list[str] = [""]
        self.row = self.column = 0

    def write(self, text: str) -> None:
        place = 0
        for piece in _PIECE.finditer(text):
            assert piece.start() == place, f"unknown: {text[place:]!r}"
            place = piece.end()
            if piece[2] is not None:
                self._obey(piece[2], int(piece[1] or 1))
            elif piece[0] == "\r":
                self.column = 0
            elif piece[0] == "\n":
                self._down()
            else:
                self._put(piece[0])
        assert place == len(text), f"unknown: {text[place:]!r}"

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> list[str]:
        """The lines, without empty ones at the end."""
        return "\n".join(row.rstrip() for row in self.rows).rstrip("\n").split("\n")

    def _down(self) -> None:
        self.row, self.column = self.row + 1, 0
        if self.row == len(self.rows):
            self.rows.append("")

    def _put(self, text: str) -> None:
        for character in text:
            if self.column == self.width:
                self._down()
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[: self.column] + character + line[self.column + 1 :]
            self.column += 1

    def _obey(self, command: str, count: int) -> None:
        match command:
            case "A":
                assert count <= self.row, "above the first line"
                self.row -= count
            case "D":
                assert count <= self.column, "before the first column"
                self.column -= count
            case "J":
                self.rows[self.row] = self.rows[self.row][: self.column]
                del self.rows[self.row + 1 :]
            case _:
                raise AssertionError(f"unknown: {command}")
