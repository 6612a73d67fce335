"""Calls in which values cross by the closures of `lower.py` and `lift.py`: one C call for a call, one more to free its answer."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct
from wasmtime import Store, WasmtimeError
from wasmtime import _ffi as ffi
from wasmtime.component import Func, LinkerInstance

from treblehook.runtimes.wasm.binding import layout
from treblehook.runtimes.wasm.binding.arena import Arena
from treblehook.runtimes.wasm.binding.host import Host, new_error
from treblehook.runtimes.wasm.binding.lift import Read, read
from treblehook.runtimes.wasm.binding.lower import Lowering
from treblehook.runtimes.wasm.binding.lower_scalars import Put
from treblehook.runtimes.wasm.binding.misfit import Misfit
from treblehook.runtimes.wasm.errors import WrongValue
from treblehook.runtimes.wasm.types import (
    STRING,
    U8,
    U64,
    Case,
    EnumType,
    Field,
    FlagsType,
    FunctionType,
    ListType,
    OptionType,
    RecordType,
    ResultType,
    TupleType,
    VariantType,
)
from treblehook.runtimes.wasm.values import Err, Ok, Some, Variant

_ADDRESS: Final = ctypes.c_void_p


def _function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the library that takes addresses as numbers: the pointer objects of its own prototypes cost more than the call."""
    try:
        return ctypes.CFUNCTYPE(result, *arguments)((f"wasmtime_component_{name}", ffi.dll))
    except AttributeError:
        return None


_call: Final = _function("func_call", _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, ctypes.c_size_t, _ADDRESS, ctypes.c_size_t)
_delete: Final = _function("val_delete", None, _ADDRESS)
_clone: Final = _function("val_clone", None, _ADDRESS, _ADDRESS)


class _Marshaller(Struct, frozen=True):
    """All that is known of a function's type, read once."""

    head: bytes
    """Room for the answer, then the arguments, which have only their kinds."""
    puts: tuple[tuple[str, int, Put], ...]
    """Name, place and writer of every argument."""
    takes: tuple[tuple[int, Read], ...]
    """Place and reader of every argument, for a function that the guest calls."""
    put_result: Put | None
    read_result: Read | None
    result_blank: bytes


class DirectConversion:
    """Shared by all instances of an engine; the closures for a type are made once."""

    def __init__(self) -> None:
        self._lowering = Lowering()
        self._known: dict[FunctionType, _Marshaller] = {}

    def function(self, store: Store, func: Func, type: FunctionType, arena: Arena) -> Callable[[Sequence[Any]], Any]:
        """A function of an instance, to be called as long as the store is open. Raises `WrongValue` before the guest is entered, and
        `WasmtimeError`."""
        marshaller = self._marshaller(type)
        handle = func._func
        context = ctypes.cast(store._context(), _ADDRESS).value
        head, puts, read_result = marshaller.head, marshaller.puts, marshaller.read_result
        count, results = len(puts), 0 if read_result is None else 1

        def call(arguments: Sequence[Any]) -> Any:
            def write(arena: Arena) -> None:
                start = arena.take(len(head))
                arena.memory[start : start + len(head)] = head
                for value, (name, at, put) in zip(arguments, puts, strict=True):
                    try:
                        put(value, arena, at)
                    except Misfit as misfit:
                        raise misfit.wrong(name) from None

            if len(arguments) != count:
                raise WrongValue("the arguments", str(len(arguments)), str(count))
            arena.fill(write)
            base = arena.base
            error = _call(ctypes.addressof(handle), context, base + layout.VALUE, count, base, results)
            if error:
                raise WasmtimeError._from_ptr(ctypes.cast(error, ctypes.POINTER(ffi.wasmtime_error_t)))
            if read_result is None:
                return None
            try:
                return read_result(arena.memory, layout.PAYLOAD)
            finally:
                _delete(base)

        return call

    def define(self, linker: LinkerInstance, host: Host, arena: Arena) -> object:
        """Give the guest a function. Keep what comes back as long as the store."""
        marshaller = self._marshaller(host.type)
        takes, put_result, blank = marshaller.takes, marshaller.put_result, marshaller.result_blank

        def answer(arguments: Any, results: Any) -> None:
            memory = ctypes.string_at(arguments, layout.VALUE * len(takes)) if takes else b""
            value = host.run([take(memory, at) for at, take in takes])
            if put_result is None:
                return
            put = put_result

            def write(arena: Arena) -> None:
                start = arena.take(layout.VALUE)
                arena.memory[start : start + layout.VALUE] = blank
                put(value, arena, start + layout.PAYLOAD)

            arena.fill(write)
            _clone(arena.base, ctypes.cast(results, _ADDRESS).value)

        @ffi.wasmtime_component_func_callback_t  # type: ignore[untyped-decorator]
        def called(data: Any, context: Any, type: Any, arguments: Any, count: int, results: Any, result_count: int) -> Any:
            try:
                answer(arguments, results)
            except BaseException as error:  # whatever it is, it must not be lost in C
                return new_error(host.failed(error))
            return 0

        encoded = host.name.encode()
        failed = ffi.wasmtime_component_linker_instance_add_func(linker.ptr(), encoded, len(encoded), called, None, _NO_FINALIZER)
        if failed:
            raise WasmtimeError._from_ptr(failed)
        return called

    def _marshaller(self, type: FunctionType) -> _Marshaller:
        if type not in self._known:
            self._known[type] = self._make(type)
        return self._known[type]

    def _make(self, type: FunctionType) -> _Marshaller:
        params = [(param.name, place * layout.VALUE + layout.PAYLOAD, param.type) for place, param in enumerate(type.params)]
        return _Marshaller(
            head=bytes(layout.VALUE) + b"".join(layout.blank(of) for _, _, of in params),
            puts=tuple((name, layout.VALUE + at, self._lowering.put(of)) for name, at, of in params),
            takes=tuple((at, read(of)) for _, at, of in params),
            put_result=None if type.result is None else self._lowering.put(type.result),
            read_result=None if type.result is None else read(type.result),
            result_blank=b"" if type.result is None else layout.blank(type.result),
        )


_NO_FINALIZER: Final = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))


_SAMPLE_TYPE: Final = RecordType(
    (
        Field("numbers", TupleType((U8, U64))),
        Field("choice", VariantType((Case("text", STRING), Case("nothing")))),
        Field("word", EnumType(("yes", "no"))),
        Field("maybe", OptionType(OptionType(STRING))),
        Field("outcome", ResultType(ListType(STRING), STRING)),
        Field("bytes", ListType(U8)),
        Field("marks", FlagsType(("red", "green"))),
    )
)
_SAMPLE: Final = {
    "numbers": (7, 1 << 60),
    "choice": Variant("text", "trébuchet"),
    "word": "no",
    "maybe": Some(None),
    "outcome": Ok(["", "a"]),
    "bytes": b"\0\xff",
    "marks": frozenset({"green"}),
}


def works_here() -> bool:
    """Whether the installed library can be used like this: it declares what is expected, and copies our values as they are meant."""
    there = None not in (_call, _delete, _clone) and "_func" in Func.__annotations__ and hasattr(Store, "_context")
    if not there or not layout.as_expected():
        return False
    put, take = Lowering(), read(_SAMPLE_TYPE)
    for sample in (_SAMPLE, {**_SAMPLE, "choice": Variant("nothing"), "maybe": None, "outcome": Err("no")}):
        arena, copy = Arena(), ctypes.create_string_buffer(layout.VALUE)

        def write(arena: Arena, sample: Any = sample) -> None:
            start = arena.take(layout.VALUE)
            arena.memory[start : start + layout.VALUE] = layout.blank(_SAMPLE_TYPE)
            put.put(_SAMPLE_TYPE)(sample, arena, start + layout.PAYLOAD)

        arena.fill(write)
        _clone(arena.base, ctypes.addressof(copy))
        try:
            if take(copy.raw, layout.PAYLOAD) != sample:
                return False
        finally:
            _delete(ctypes.addressof(copy))
    return True
