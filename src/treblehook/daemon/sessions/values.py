"""What requests about sessions hold, and what they are answered."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from treblehook.agent.inbox import When
from treblehook.daemon.sessions.prompts import Standing

State = Literal["running", "idle", "parked"]

Text = Annotated[str, Meta(min_length=1)]


class Opening(Struct, frozen=True, forbid_unknown_fields=True):
    """How a session is to be opened. `workspace` is an absolute path, or begins with `~`; without one it is the daemon's own
    folder. `model` is a SPEC, else the home's default. `kilns` are names of `[kilns]`, else all of them."""

    workspace: Text | None = None
    model: Text | None = None
    kilns: list[Text] | None = None


class Prompt(Struct, frozen=True, forbid_unknown_fields=True):
    """A message. `now` joins the running turn, `idle` waits for its own."""

    prompt: Text
    when: When = "idle"


class SessionInfo(Struct, frozen=True):
    """A session. A `parked` one was closed because nobody used it; its next prompt opens it again. `waiting` messages have not
    had their turn yet."""

    id: str
    workspace: str
    model: str
    state: State
    turns: int
    waiting: int


class Sessions(Struct, frozen=True):
    """The open sessions, the oldest first, then those that are parked."""

    sessions: list[SessionInfo]


class Accepted(Struct, frozen=True):
    """A message has been taken: its turn `starts` now, it `waits` behind `ahead` others, or it `joins` the running turn."""

    session: str
    standing: Standing
    ahead: int


class Closed(Struct, frozen=True):
    """A session is not open any more. Its file is kept, or was moved to the trash."""

    id: str
    kept: bool
