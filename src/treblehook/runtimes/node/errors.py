"""Why a function of a module gave no answer."""


class NodeError(Exception):
    """Something went wrong between us and a module; `why` says it in one clause."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class NodeUnavailable(NodeError):
    """There is no Node that is new enough; `remedy` is what the user can do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why}; {remedy}")
        self.remedy = remedy


class NotRunning(NodeError):
    """The module was not asked: its worker is not running, or has too much to read already."""


class CallFailed(NodeError):
    """The function threw, or its promise was rejected, or its value cannot be sent; `why` is the module's own message."""


class ModuleEnded(NodeError):
    """The module's worker, or the whole process, ended while the function was running."""
