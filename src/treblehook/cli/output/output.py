"""What every way of showing a session can do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treblehook.agent.listener import Listener
from treblehook.agent.steps import TurnEnd


class Output(Listener):
    """Where one command shows its session. Told nothing, it shows nothing."""

    def problem(self, line: str) -> None:
        """Something that the user should know and that is no part of the session, such as a warning about a file."""

    def turn_ended(self, end: TurnEnd) -> None:
        """A turn is over."""

    def told(self, session: str, command: str, result: dict[str, Any]) -> None:
        """A chat's `command` has come to `result`."""

    def misunderstood(self, session: str, message: str) -> None:
        """A chat's input could not be taken."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Show nothing that changes, while somebody else uses the terminal."""
        yield

    def close(self) -> None:
        """The session is over."""
