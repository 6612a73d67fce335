"""The events that belong to no session: files, notes and webhooks (row d of the lifecycle table)."""

from typing import ClassVar, Literal

from treblehook.lifecycle.decisions import Stop
from treblehook.lifecycle.event import Accepts, Event


class DaemonEvent(Event, Accepts[Stop], frozen=True, kw_only=True):
    """Something that has already happened; handlers can only react, or spare the rest."""


class FileChanged(DaemonEvent, frozen=True, kw_only=True):
    """A file of a watched kiln was created or modified; `path` is absolute."""

    path: str
    change: Literal["created", "modified"]


class FileDeleted(DaemonEvent, frozen=True, kw_only=True):
    """A file of a watched kiln is gone."""

    path: str


class FileMoved(DaemonEvent, frozen=True, kw_only=True):
    """A file of a watched kiln has another path."""

    source: str
    destination: str


class NoteEvent(DaemonEvent, frozen=True, kw_only=True):
    """Something about a note; `path` is relative to its kiln, and is the target."""

    targeted: ClassVar[bool] = True
    path: str
    kiln: str = ""

    @property
    def target(self) -> str | None:
        """The note's path inside its kiln (the destination of a rename)."""
        return self.path


class NoteCreated(NoteEvent, frozen=True, kw_only=True):
    """A note is new in its kiln's index."""

    title: str


class NoteModified(NoteEvent, frozen=True, kw_only=True):
    """A note's text, front matter, links or tags changed."""

    change: Literal["content", "frontmatter", "links", "tags"] = "content"


class NoteDeleted(NoteEvent, frozen=True, kw_only=True):
    """A note is gone; `existed` says whether the index knew it."""

    existed: bool


class NoteRenamed(NoteEvent, frozen=True, kw_only=True):
    """A note moved from `source` to `path`."""

    source: str


class WebhookReceived(DaemonEvent, frozen=True, kw_only=True):
    """A signed delivery arrived; `body` is the signed text, header names are lower case."""

    targeted: ClassVar[bool] = True
    name: str
    headers: dict[str, str]
    body: str

    @property
    def target(self) -> str | None:
        """The webhook's name."""
        return self.name
