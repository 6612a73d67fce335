"""What Lua code reaches of a home's sessions, as `host.reach.Reach`."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from treblehook.agent.session import Session
from treblehook.home.asking import OpenSessions
from treblehook.host.isolation import Isolation
from treblehook.host.problems import Problem
from treblehook.host.reach import OpenSession, ReachRefused
from treblehook.host.tool import ToolOutput, ToolSpec


class HomeReach:
    """The open sessions of a home; `report` is told what is meant for all users."""

    def __init__(self, sessions: OpenSessions, isolation: Isolation, report: Callable[[Problem], None], home: str) -> None:
        self._sessions = sessions
        self._isolation = isolation
        self._report = report
        self._home = home

    def sessions(self) -> list[OpenSession]:
        """The open sessions, the oldest first."""
        return [
            OpenSession(session.id, session.state.facts.workspace, session.state.model.spec, session.running, session.state.parent)
            for session in self._sessions.all()
        ]

    async def prompt(self, session: str, text: str, when: Literal["idle", "now"]) -> None:
        """Give a session a message; returns once it has been accepted."""
        self._found(session).send(text, when)

    def subscribe(self, session: str, told: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Have `told` called with each record of a session from now on; what is returned ends that."""
        return self._found(session).state.recorder.subscribe(told)

    def tools(self, session: str) -> list[ToolSpec]:
        """The tools that a session has."""
        return list(self._found(session).state.tools.values())

    def offered(self, session: str) -> tuple[str, ...]:
        """The names that the next turn offers."""
        return self._found(session).state.offered

    def offer(self, session: str, names: Sequence[str]) -> None:
        """Narrow what the turns that follow offer."""
        self._found(session).state.offer(names)

    async def call_tool(self, session: str, name: str, arguments: dict[str, Any]) -> ToolOutput:
        """Run a tool for a hook."""
        return await self._found(session).state.call_tool(name, arguments)

    def attach(self, session: str, text: str, key: str) -> None:
        """Put text into the session's next context."""
        self._found(session).state.attachments.attach(text, key)

    def notify(self, session: str, text: str, level: Literal["info", "warn", "error"]) -> None:
        """A row in the session's transcript, or, for the whole host, a line among its problems."""
        if session:
            self._found(session).state.recorder.write("row", text=text, hook="")
        else:
            self._report(Problem(self._home, "", text, level="error" if level == "error" else "warning"))

    def require_isolation(self, owner: str, tools: Sequence[str], reason: str, session: str = "") -> None:
        """From now on a call of these tools runs only where a hook has replaced it."""
        self._isolation.require(owner, tools, reason, session)

    def _found(self, session: str) -> Session:
        found = self._sessions.find(session)
        if found is None:
            raise ReachRefused(f"no session {session!r} is open")
        return found
