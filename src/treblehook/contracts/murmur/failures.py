"""A call that gave no answer, in words (murmur.md 2.8)."""

from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.launch import HookLimits
from treblehook.runtimes.wasm import (
    DeadlineExceeded,
    InstanceEnded,
    NotExported,
    StackExhausted,
    TooManyResources,
    Trapped,
    WrongType,
    WrongValue,
)


class CallFailed(Exception):
    """The message is for the hook's log and for a refusal. `closed`: only because the hook was closed."""

    def __init__(self, message: str, *, closed: bool = False) -> None:
        super().__init__(message)
        self.closed = closed


def call_failed(hook: str, binding: Binding, error: Exception, limits: HookLimits) -> CallFailed:
    """What `error`, with which a call of `hook` ended, is called."""
    subject = f"hook '{hook}' {binding.value}"
    closed = isinstance(error, InstanceEnded) and error.why is None
    return CallFailed(f"{subject} {_what(error, limits)}", closed=closed)


def _what(error: Exception, limits: HookLimits) -> str:
    match error:
        case DeadlineExceeded(seconds=seconds):
            return f"exceeded its deadline of {seconds:g} seconds and was interrupted (capabilities.limits.deadline_seconds)"
        case TooManyResources(why=why):
            return f"trapped: its resource limits were exceeded: {why} ({_sizes(limits)})"
        case StackExhausted(why=why):
            return f"trapped: {why}"
        case Trapped(why=why) if "unreachable" in why:
            # The engine denies growth without a word, and a guest without memory gives up like this.
            return f"trapped: {why}; its resource limits may have been exceeded ({_sizes(limits)})"
        case Trapped(why=why):
            return f"trapped: {why}"
        case NotExported() | WrongType():
            return f"cannot be called: {error}; rebuild it"
        case WrongValue():
            return f"cannot be handed this event: {error}"
        case InstanceEnded(why=why) if why is not None:
            # What ended it is told again each time.
            return f"trapped: cannot enter component instance, which an earlier call ended: it {_what(why, limits)}"
        case _:
            return f"failed: {error or type(error).__name__}"


def _sizes(limits: HookLimits) -> str:
    return f"capabilities.limits.memory_bytes: {limits.memory_bytes}, capabilities.limits.table_elements: {limits.table_elements}"
