"""Which hook calls, and about what it is being asked just now."""

from treblehook.contracts.murmur.bindings import Binding, ExecutionMode
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.hook_manifest import HookManifest


class Caller:
    """One instance, which is asked one thing at a time; `binding` is None while it is asked nothing."""

    def __init__(self, hook: HookManifest, grant: Grant) -> None:
        self.name = hook.name
        self.grant = grant
        self.waited_for = hook.mode is ExecutionMode.BLOCKING
        self.binding: Binding | None = None
