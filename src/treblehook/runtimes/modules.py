"""What running a module of foreign code has in common, whatever its language: how it is asked, and why there is no answer."""

from typing import Protocol


class ModuleError(Exception):
    """Something went wrong between us and a module; `why` says it in one clause."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class NotRunning(ModuleError):
    """The module was not asked: nothing runs it, or it has too much to read already."""


class CallFailed(ModuleError):
    """The function threw, or its value cannot be sent; `why` is the module's own message."""


class ModuleEnded(ModuleError):
    """What ran the module ended while the function was running."""


class RequestFailed(Exception):
    """Raised by whoever answers a module's request: the module is told the message."""


class AnyModule(Protocol):
    """A loaded module."""

    @property
    def ended(self) -> str | None:
        """Why it is gone for good; None while it is not."""

    async def call(self, name: str, argument: bytes) -> bytes:
        """Call the function `name` with JSON; answers the JSON of its value. Raises `NotRunning`, `CallFailed` and `ModuleEnded`.

        Where the caller is cancelled, nobody waits for the function any more.
        """
