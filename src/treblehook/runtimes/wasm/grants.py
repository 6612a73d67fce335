"""What an instance may use and have; by itself it has nothing."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import Struct, field

from treblehook.runtimes.wasm.types import FunctionType
from treblehook.runtimes.wasm.wit import Interface


class Limits(Struct, frozen=True):
    """Of one instance; `memory_bytes` and `table_elements` of each of its memories and tables, mostly one. More is not given to the
    guest, which is told so by the instruction that asks. What it prints beyond `output_bytes`, for each of its two streams, is counted
    and dropped. The first three are the ones of murmur.md 2.8."""

    memory_bytes: int = 536_870_912
    table_elements: int = 100_000
    instances: int = 1000
    memories: int = 10
    tables: int = 100
    output_bytes: int = 65_536


class HostFunction(Struct, frozen=True):
    """A function that the guest may call.

    It is called on the instance's own thread; a coroutine that it gives runs on the event loop. What it raises ends the instance. Until
    there is an answer the guest's clock stands still, unless `counts`.
    """

    type: FunctionType
    call: Callable[..., Any] | Callable[..., Awaitable[Any]]
    counts: bool = False


class HostInterface(Struct, frozen=True):
    """An interface that the guest may import, by its full name (`murmur:runtime/tokens@0.4.0`), and its functions.

    A function that the guest imports from it and that is not here is refused; `stubbed` lets it be imported, and traps when it is called:
    componentize-py imports an interface whole if it needs only a type of it.
    """

    name: str
    functions: Mapping[str, HostFunction] = field(default_factory=dict)
    stubbed: bool = False


def host_interface(
    interface: Interface, functions: Mapping[str, Callable[..., Any]], *, counts: bool = False, stubbed: bool = False
) -> HostInterface:
    """Functions for an interface that was read from WIT. Raises `KeyError` where the interface has no function of a name."""
    typed = {name: HostFunction(interface.functions[name], call, counts) for name, call in functions.items()}
    return HostInterface(interface.name, typed, stubbed)


WasiGroup = Literal["cli", "clocks", "filesystem", "http", "io", "random", "sockets"]
"""A package of WASI 0.2. `io` and `cli` reach nothing by themselves: streams, captured output, an environment that holds what is given."""


class Folder(Struct, frozen=True):
    """A folder that the guest sees as `name`."""

    path: Path
    name: str
    writable: bool = False


Requests = Callable[[str, str, int], bool]
"""Whether a request to this scheme (`http`, `https`), host and port may be made; called on the guest's own thread."""


class Wasi(Struct, frozen=True):
    """What of WASI 0.2 an instance may import, and what it finds there.

    An interface of a group that is not in `groups` is refused before anything starts. One that is granted is empty: no file but in
    `folders`, no variable but in `environ`, no input, a socket is never made (`access-denied`), and a request by HTTP only where
    `requests` allows it (`HTTP-request-denied`).
    """

    groups: frozenset[WasiGroup] = frozenset()
    environ: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    folders: Sequence[Folder] = ()
    requests: Requests | None = None


NO_WASI: Final = Wasi()
SEALED_WASI: Final = Wasi(frozenset(get_args(WasiGroup)))
"""Everything that a guest of componentize-py imports, and nothing in it."""


class Grants(Struct, frozen=True):
    """All that an instance may import."""

    interfaces: Sequence[HostInterface] = ()
    wasi: Wasi = NO_WASI
