"""What a hook may reach of the host beside its own event: sessions, their tools, their next context, their users."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from treblehook.host.tool import ToolOutput, ToolSpec


class OpenSession(Struct, frozen=True):
    """An open session as hooks see it; `parent` is set for a subagent."""

    id: str
    workspace: str
    model: str
    running: bool
    parent: str | None = None


class ReachRefused(Exception):
    """The host does not do what a hook asked for; the message says why."""


class Reach(Protocol):
    """Every method that takes a session's id raises `ReachRefused` where that session is not open."""

    def sessions(self) -> list[OpenSession]:
        """The open sessions, the oldest first."""

    async def prompt(self, session: str, text: str, when: Literal["idle", "now"]) -> None:
        """Give a session a message: `idle` waits for the running turn, `now` joins it. Returns once it has been accepted."""

    def subscribe(self, session: str, told: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Have `told` called with each record of a session from now on; what is returned ends that."""

    def tools(self, session: str) -> list[ToolSpec]:
        """The tools that a session has, whether its turn offers them or not."""

    def offered(self, session: str) -> tuple[str, ...]:
        """The names that the next turn offers."""

    def offer(self, session: str, names: Sequence[str]) -> None:
        """Narrow what the turns that follow offer. Unknown names raise `ReachRefused`."""

    async def call_tool(self, session: str, name: str, arguments: dict[str, Any]) -> ToolOutput:
        """Run a tool for a hook: rows 12 to 15 and what observes a run, not the rows of a model's call (design, section 2)."""

    def attach(self, session: str, text: str, key: str) -> None:
        """Put text into the session's next context; a later text of the same `key` replaces it. Over 2,000 characters it is refused."""

    def notify(self, session: str, text: str, level: Literal["info", "warn", "error"]) -> None:
        """Tell the users of a session, or of the host where `session` is ""."""

    def require_isolation(self, owner: str, tools: Sequence[str], reason: str, session: str = "") -> None:
        """From now on a call of these tools runs only where a hook has replaced it, in one session or ("") in all."""
