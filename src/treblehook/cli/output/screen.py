"""A terminal on which printed lines stay, and a few lines below them change."""

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.text import Text

from treblehook.cli.output.stream import Stream


class Screen:
    """Below what has been printed: the unfinished line `streaming`, the lines of a running tool's `card`, the `status`, and the
    input line while there is one.

    All of it is plain text that is safe to write. The cursor is left in the input line, or at the end of the last line.
    """

    def __init__(self, out: Stream, console: Console) -> None:
        self.console = console
        self.streaming = ""
        self.card: list[str] = []
        self.status = ""
        self._out = out
        self._held = False
        self._input: tuple[str, str] | None = None
        self._cursor_row = 0

    def print(self, *lines: Text) -> None:
        """Print lines above the changing ones."""
        self._write(self._erased() + "".join(f"{self._ansi(line)}\n" for line in lines))

    def stream(self, text: str) -> None:
        """Text that goes on where the last one ended; lines that are complete stay."""
        *whole, self.streaming = (self.streaming + text.expandtabs(4)).split("\n")
        # What does not fit below is printed row by row.
        rows = chop_cells(self.streaming, self._width)
        room = max(1, self.console.height - 4)
        whole += rows[:-room]
        self.streaming = "".join(rows[-room:])
        self._write(self._erased() + "".join(f"{line}\n" for line in whole))

    def end_stream(self) -> None:
        """The unfinished line is finished."""
        if self.streaming:
            self.stream("\n")

    def drop_stream(self) -> None:
        """The unfinished line is void."""
        self.streaming = ""
        self.redraw()

    def input(self, before: str | None, after: str = "") -> None:
        """Show an input line with the cursor between the two texts; None takes the line away."""
        self._input = None if before is None else (before, after)
        self.redraw()

    def redraw(self) -> None:
        """Draw the changing lines anew."""
        self._write(self._erased())

    def hold(self) -> None:
        """Take the changing lines away and draw none until `release`."""
        self._out.write(self._erased())
        self._cursor_row = 0
        self._held = True

    def release(self) -> None:
        """Draw them again."""
        self._held = False
        self.redraw()

    def close(self) -> None:
        """Leave the cursor below all that was printed."""
        self.end_stream()
        self.card = []
        self.status = ""
        self.input(None)

    @property
    def _width(self) -> int:
        return max(10, self.console.width - 1)

    def _erased(self) -> str:
        if self._held:
            return ""
        up = f"\x1b[{self._cursor_row}A" if self._cursor_row else ""
        return f"\r{up}\x1b[J"

    def _write(self, text: str) -> None:
        self._out.write(text if self._held else text + self._below())

    def _below(self) -> str:
        rows = chop_cells(self.streaming, self._width) if self.streaming else []
        room = max(0, self.console.height - 4 - len(rows))
        rows += [self._ansi(Text(_cut("  │ " + line.expandtabs(4), self._width), style="dim")) for line in self.card[-room:] if room]
        if self.status:
            rows.append(self._ansi(Text(_cut(self.status, self._width), style="dim")))
        if self._input is not None:
            before, after = self._input
            before = _tail(before, self._width - 1)
            line = before + after
            back = cell_len(_cut(line, self._width)) - cell_len(before)
            rows.append(_cut(line, self._width) + (f"\x1b[{back}D" if back > 0 else ""))
        self._cursor_row = max(0, len(rows) - 1)
        return "\n".join(rows)

    def _ansi(self, text: Text) -> str:
        with self.console.capture() as captured:
            self.console.print(text, end="", soft_wrap=True)
        return captured.get()


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width)


def _tail(text: str, width: int) -> str:
    """The end of `text` that fits; an input line scrolls sideways."""
    while cell_len(text) > width:
        text = text[max(1, (cell_len(text) - width) // 2) :]
    return text
