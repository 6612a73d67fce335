"""A place in a command's text."""


class Cursor:
    """Moves over `text`; `at` is the index of the next character."""

    __slots__ = ("at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def next(self) -> str:
        """The next character, "" at the end."""
        return self.text[self.at : self.at + 1]

    def starts(self, prefix: str) -> bool:
        """Whether the text goes on with `prefix`."""
        return self.text.startswith(prefix, self.at)

    def take(self, count: int = 1) -> str:
        """The next `count` characters, passed over."""
        taken = self.text[self.at : self.at + count]
        self.at += count
        return taken

    def skip_blanks(self) -> None:
        """Pass over blanks and continued line ends."""
        while self.next in (" ", "\t") or self.starts("\\\n"):
            self.at += 2 if self.next == "\\" else 1
            if self.at >= len(self.text):
                return
