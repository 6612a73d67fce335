"""The open sessions of a home, to which an extension may put a side question."""

from weakref import WeakValueDictionary

from treblehook.agent.asking import ask_aside
from treblehook.agent.session import Session
from treblehook.host.asking import AskRefused, SideAnswer


class OpenSessions:
    """Finds a session by its id, as long as somebody holds it."""

    def __init__(self) -> None:
        self._sessions: WeakValueDictionary[str, Session] = WeakValueDictionary()

    def add(self, session: Session) -> None:
        """A session has been opened."""
        self._sessions[session.id] = session

    async def __call__(self, session: str, question: str, max_tokens: int) -> SideAnswer:
        """Put `question` to the session of that id; see `AskSession`."""
        found = self._sessions.get(session)
        if found is None or found.closing:
            raise AskRefused(f"no session {session!r} is open")
        return await ask_aside(found.state, question, max_tokens)
