"""What a user says of an event that is to be fired."""

from typing import Any, Literal

from msgspec import Struct

from treblehook.host.facts import EventFields

Option = Literal["tool", "input", "prompt", "result", "is_error", "reason", "reply", "joined"]


class Wish(Struct, frozen=True):
    """An option that is not in `options` takes an example.

    The option `input` is the tool's input; at an event without a tool, fields of the event itself.
    """

    session: str
    workspace: str
    spawned: bool = False
    options: dict[Option, Any] = {}

    def facts(self) -> EventFields:
        """The fields that all events of a session share."""
        return {"session": self.session, "workspace": self.workspace, "spawned": self.spawned}


class WishInvalid(Exception):
    """An option does not fit the event; `option` is its name in `Wish.options`."""

    def __init__(self, option: Option, message: str) -> None:
        super().__init__(message)
        self.option = option


def flag(option: Option) -> str:
    """The option as it is written on a command line."""
    return f"--{option.replace('_', '-')}"
