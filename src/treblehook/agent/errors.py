"""Why a session cannot be opened, or what was asked of it was not done."""


class SessionRefused(Exception):
    """A start hook refused the session; `reason` is the hook's word."""

    def __init__(self, session: str, reason: str) -> None:
        super().__init__(f"a hook refused the session: {reason}")
        self.session = session
        self.reason = reason


class CompactionStopped(Exception):
    """The user stopped a compaction; the conversation is as it was."""

    def __init__(self) -> None:
        super().__init__("stopped by the user")
