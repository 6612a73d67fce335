"""Why a session cannot be opened, why a turn ended, or why what was asked was not done."""


class SessionRefused(Exception):
    """A start hook refused the session; `reason` is the hook's word."""

    def __init__(self, session: str, reason: str) -> None:
        super().__init__(f"a hook refused the session: {reason}")
        self.session = session
        self.reason = reason


class Blocked(Exception):
    """A hook blocked the prompt or the request; the turn ends."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LimitReached(Exception):
    """The turn was stopped by a limit of our own; `exit_status` is how its task is told to have ended."""

    def __init__(self, reason: str, exit_status: str = "failed") -> None:
        super().__init__(reason)
        self.exit_status = exit_status


class CompactionStopped(Exception):
    """The user stopped a compaction; the conversation is as it was."""

    def __init__(self) -> None:
        super().__init__("stopped by the user")
