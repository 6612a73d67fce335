"""What can go wrong with a component: as it is loaded, as it is started, in a call."""

from collections.abc import Sequence


class WasmError(Exception):
    """The reason is the message, one clause without the component's name."""


# Loading


class NotAComponent(WasmError):
    """The bytes are no component; `why` says what they are or where they end."""

    def __init__(self, why: str) -> None:
        super().__init__(f"not a WebAssembly component: {why}")
        self.why = why


class CoreModule(NotAComponent):
    """The bytes are a core module, which no component tool has made into a component."""

    def __init__(self) -> None:
        super().__init__("it is a core module; a component tool (componentize-py, wasm-tools component new) makes one of it")


class TooLarge(WasmError):
    """The component has `found` bytes (of a file that was not read at all), more than `limit`."""

    def __init__(self, found: int, limit: int) -> None:
        super().__init__(f"the component has {found} bytes, and {limit} are allowed")
        self.found = found
        self.limit = limit


class CannotCompile(WasmError):
    """The component is not valid, or uses what this engine does not have; `why` is the engine's text."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the component cannot be compiled: {why}")
        self.why = why


# What it exports and imports


class NotExported(WasmError):
    """There is no export `name`; `others` are exports of the same interface in another version."""

    def __init__(self, name: str, others: Sequence[str] = ()) -> None:
        wrong = f"; it exports {', '.join(others)}, and no other version is served" if others else ""
        super().__init__(f"the component does not export {name}{wrong}")
        self.name = name
        self.others = tuple(others)


class WrongType(WasmError):
    """The exported function has another type; `where` is the place in it, `difference` what is different there."""

    def __init__(self, name: str, where: str, difference: str) -> None:
        super().__init__(f"{name} has another type than the one that is called: {where} {difference}")
        self.name = name
        self.where = where
        self.difference = difference


class ImportNotGranted(WasmError):
    """The component wants `name`, and nobody gave it that; `others` are granted versions of the same interface."""

    def __init__(self, name: str, others: Sequence[str] = ()) -> None:
        served = f"; {', '.join(others)} is what it may have" if others else ""
        super().__init__(f"the component imports {name}, which it was not granted{served}")
        self.name = name
        self.others = tuple(others)


class WrongImport(WasmError):
    """The component imports a granted function under another type."""

    def __init__(self, name: str, where: str, difference: str) -> None:
        super().__init__(f"the component imports {name} with another type than the one that it is granted: {where} {difference}")
        self.name = name
        self.where = where
        self.difference = difference


# Calls


class WrongValue(WasmError):
    """A value does not fit its type. `place` is where in it (`event.argv[2]`), `found` and `allowed` say what is there and may be."""

    def __init__(self, place: str, found: str, allowed: str) -> None:
        super().__init__(f"{place}: found {found}, allowed is {allowed}")
        self.place = place
        self.found = found
        self.allowed = allowed


class CallEnded(WasmError):
    """The call ended without an answer, and the instance with it."""


class DeadlineExceeded(CallEnded):
    """It was not done after `seconds`. It was interrupted; or, `stuck`, it hangs outside of its own code and was left alone."""

    def __init__(self, seconds: float, *, stuck: bool = False) -> None:
        super().__init__(f"its deadline of {seconds:g} s was exceeded and it was {'given up' if stuck else 'interrupted'}")
        self.seconds = seconds
        self.stuck = stuck


class Trapped(CallEnded):
    """The guest trapped; `why` is the engine's text."""

    def __init__(self, why: str) -> None:
        super().__init__(f"trapped: {why}")
        self.why = why


class StackExhausted(Trapped):
    """The guest called itself too deep."""


class TooManyResources(Trapped):
    """The guest cannot be started within its limits of memory, tables or instances."""


class AnswerTooBig(Trapped):
    """A value that the guest handed over would need more than 128 MiB of this process's memory."""


class Exited(CallEnded):
    """The guest asked to exit with `status`."""

    def __init__(self, status: int) -> None:
        super().__init__(f"exited with status {status}")
        self.status = status


class HostFunctionFailed(CallEnded):
    """A granted function raised, or gave what does not fit its type; the exception is the cause."""

    def __init__(self, name: str, why: BaseException) -> None:
        super().__init__(f"the function {name} that it was granted failed: {type(why).__name__}: {why}")
        self.name = name
        self.__cause__ = why


class Cancelled(CallEnded):
    """Nobody waits for the call any more, or the instance was closed."""

    def __init__(self) -> None:
        super().__init__("it was cancelled")


class InstanceEnded(WasmError):
    """The instance cannot be entered: it was closed, or an earlier call ended it; then `why` is that call's error."""

    def __init__(self, why: WasmError | None) -> None:
        super().__init__("the instance was closed" if why is None else f"cannot enter the instance, which an earlier call ended: {why}")
        self.why = why


class Reentered(WasmError):
    """The call comes from a function that the guest is waiting for, so it would wait for itself; the guest was not entered."""

    def __init__(self) -> None:
        super().__init__("the instance is called by a function that it waits for itself")


class CannotStart(WasmError):
    """There is no thread or no memory for one more instance; `why` is the system's text."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the instance cannot be started: {why}")
        self.why = why


class RuntimeClosed(WasmError):
    """The runtime was closed."""

    def __init__(self) -> None:
        super().__init__("the WebAssembly runtime was closed")
