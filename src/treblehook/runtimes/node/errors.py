"""Why there is no Node process, beyond what can go wrong with any module."""

from treblehook.runtimes.modules import ModuleError


class NodeError(ModuleError):
    """Something is wrong with the Node process, or between us and it."""


class NodeUnavailable(NodeError):
    """There is no Node that is new enough; `remedy` is what the user can do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why}; {remedy}")
        self.remedy = remedy
