"""How a call of a handler can go wrong, and how binding one can."""


class HookProblem(Exception):
    """A handler gave no usable answer; `raw` is what it did say, when it said something."""

    def __init__(self, message: str, *, raw: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.raw = raw


class HookNotStarted(HookProblem):
    """The hook's code never ran: a missing file, a bad artifact, an input over its limit."""


class QueueFull(HookNotStarted):
    """The event was dropped, since `depth` events were waiting for the hook already."""

    def __init__(self, depth: int) -> None:
        super().__init__(f"was not told of it: {depth} events were waiting already")
        self.depth = depth


class BackgroundClosed(HookNotStarted):
    """Work in the background was over before the hook's turn came."""

    def __init__(self) -> None:
        super().__init__("was not told of it: what it belongs to has closed")


class HookFailed(HookProblem):
    """The hook's code ran and crashed, or answered what the event does not accept."""


class HookGivenUp(HookFailed):
    """Nobody waits for the hook any more: its dispatch was cancelled, or what it belongs to has closed."""

    def __init__(self, why: str) -> None:
        super().__init__(f"was given up: {why}")


class HookTimedOut(HookProblem):
    """The hook was still running when its time was up; `seconds` is that limit, `shared` true where it is its lane's."""

    def __init__(self, seconds: float, *, shared: bool = False, raw: str | None = None) -> None:
        whose = "the time that its hooks share" if shared else "its time limit"
        super().__init__(f"was still running after {seconds:g} s, {whose}", raw=raw)
        self.seconds = seconds
        self.shared = shared


class BindError(Exception):
    """A handler cannot be bound to an event as asked; `hook` and `event` say which."""

    def __init__(self, hook: str, event: str, problem: str) -> None:
        super().__init__(f"hook {hook!r} cannot be bound to {event}: {problem}")
        self.hook = hook
        self.event = event
        self.problem = problem
