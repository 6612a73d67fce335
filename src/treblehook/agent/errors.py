"""Why a session cannot be opened."""


class SessionRefused(Exception):
    """A start hook refused the session; `reason` is the hook's word."""

    def __init__(self, session: str, reason: str) -> None:
        super().__init__(f"a hook refused the session: {reason}")
        self.session = session
        self.reason = reason
