"""The line that a person is typing."""

from collections.abc import Callable

from treblehook.cli.chatting.keys import Pressed, Typed


class Editor:
    """A line with a cursor. `show` gets the text before and after the cursor after every change, `on_line` a finished line."""

    def __init__(self, show: Callable[[str, str], None], on_line: Callable[[str], None]) -> None:
        self.text = ""
        self._cursor = 0
        self._changed = show
        self._on_line = on_line

    def take(self, key: Typed | Pressed) -> None:
        """A key that edits; others change nothing."""
        if isinstance(key, Typed):
            self._replace(self._cursor, self._cursor, key.text)
            return
        match key.key:
            case "enter":
                self._finish()
            case "backspace":
                self._replace(max(0, self._cursor - 1), self._cursor)
            case "delete":
                self._replace(self._cursor, self._cursor + 1)
            case "clear":
                self._replace(0, self._cursor)
            case "word":
                self._replace(self._word_start(), self._cursor)
            case "left":
                self._move(self._cursor - 1)
            case "right":
                self._move(self._cursor + 1)
            case "home":
                self._move(0)
            case "end":
                self._move(len(self.text))

    def clear(self) -> None:
        """Drop what was typed."""
        self._replace(0, len(self.text))

    def show(self) -> None:
        """Show the line as it is."""
        self._changed(self.text[: self._cursor], self.text[self._cursor :])

    def _finish(self) -> None:
        line = self.text
        self.clear()
        if line.strip():
            self._on_line(line)

    def _replace(self, start: int, end: int, text: str = "") -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self._move(start + len(text))

    def _move(self, cursor: int) -> None:
        self._cursor = min(max(0, cursor), len(self.text))
        self.show()

    def _word_start(self) -> int:
        return self.text[: self._cursor].rstrip().rfind(" ") + 1
