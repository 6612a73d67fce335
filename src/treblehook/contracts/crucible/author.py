"""Who registered a function, and where: told to whoever must know what is odd about it."""

from msgspec import Struct

from treblehook.contracts.crucible.log import Log


class Author(Struct, frozen=True):
    """One call of `cru.on` or a sister of it.

    `event` is the crucible name, `name` the hook's. `code` is the plugin whose code it is; `owner` is that plugin where its reload takes
    the registration out, None for one that stays. `file` and `line` are where the call stands.
    """

    event: str
    name: str
    code: str | None
    owner: str | None
    file: str
    line: int
    log: Log

    def warn(self, text: str) -> None:
        """Something is odd, and nothing fails."""
        self.log("warn", self.name, f"{self.event}: {text}", self.file, self.line)

    def debug(self, text: str) -> None:
        """Something has no effect, as documented."""
        self.log("debug", self.name, f"{self.event}: {text}", self.file, self.line)

    def failed(self, text: str) -> None:
        """A call failed."""
        self.log("error", self.name, f"{self.event}: {text}", self.file, self.line)
