"""The open sessions of a home, which hooks may ask something and reach."""

from pathlib import Path
from weakref import WeakValueDictionary

from treblehook.agent.asking import ask_aside
from treblehook.agent.session import Session
from treblehook.host.asking import AskRefused, SideAnswer


class OpenSessions:
    """Finds a session by its id, as long as somebody holds it."""

    def __init__(self) -> None:
        self._sessions: WeakValueDictionary[str, Session] = WeakValueDictionary()
        self._elsewhere: dict[str, Path] = {}

    def add(self, session: Session) -> None:
        """A session has been opened."""
        self._sessions[session.id] = session

    def opened_elsewhere(self, session: str, workspace: Path) -> None:
        """A session of an agent that runs elsewhere has begun: hooks are asked in it, and cannot reach it."""
        self._elsewhere[session] = workspace

    def closed_elsewhere(self, session: str) -> None:
        """That session is over."""
        self._elsewhere.pop(session, None)

    def workspace(self, session: str) -> Path | None:
        """The folder in which a session works; None where it is not open."""
        found = self.find(session)
        return self._elsewhere.get(session) if found is None else Path(found.state.facts.workspace)

    def find(self, session: str) -> Session | None:
        """The session of that id; None where it is not open, or being closed."""
        found = self._sessions.get(session)
        return None if found is None or found.closing else found

    def all(self) -> list[Session]:
        """Those that are open and not being closed, the oldest first."""
        return [session for session in self._sessions.values() if not session.closing]

    async def __call__(self, session: str, question: str, max_tokens: int) -> SideAnswer:
        """Put `question` to the session of that id; see `AskSession`."""
        found = self.find(session)
        if found is None:
            raise AskRefused(f"no session {session!r} is open")
        return await ask_aside(found.state, question, max_tokens)
