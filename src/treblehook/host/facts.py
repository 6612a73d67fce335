"""What every event of one session says about it."""

from typing import TypedDict

from msgspec import Struct


class EventFields(TypedDict):
    """The fields that all events share."""

    session: str
    workspace: str
    spawned: bool


class SessionFacts(Struct, frozen=True):
    """A session as its events name it. `spawned` is true where another agent started it."""

    session: str
    workspace: str
    spawned: bool = False

    def fields(self) -> EventFields:
        """The keyword arguments for an event of this session."""
        return {"session": self.session, "workspace": self.workspace, "spawned": self.spawned}
