"""Calls in which the library itself converts the values, between its forms and ours.

The library gives and wants a variant bare where its cases have different Python classes, and tagged where they share one; ours
always tells which case it is.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from wasmtime import Store, WasmtimeError
from wasmtime.component import Func, LinkerInstance, Record
from wasmtime.component import Variant as StockVariant

from treblehook.runtimes.wasm.binding.arena import Arena
from treblehook.runtimes.wasm.binding.host import Host
from treblehook.runtimes.wasm.binding.lower import Lowering
from treblehook.runtimes.wasm.binding.misfit import Misfit
from treblehook.runtimes.wasm.errors import WrongValue
from treblehook.runtimes.wasm.types import (
    U8,
    Case,
    EnumType,
    FlagsType,
    FunctionType,
    ListType,
    OptionType,
    Primitive,
    RecordType,
    ResultType,
    TupleType,
    Type,
    VariantType,
)
from treblehook.runtimes.wasm.values import Err, Ok, Some, Variant


class StockConversion:
    """Values are checked as the direct conversion checks them, since the library would take some that do not fit."""

    def __init__(self) -> None:
        self._lowering = Lowering()

    def function(self, store: Store, func: Func, type: FunctionType, arena: Arena) -> Callable[[Sequence[Any]], Any]:
        """A function of an instance. Raises `WrongValue` before the guest is entered, and `WasmtimeError`."""
        puts = [(param.name, self._lowering.put(param.type), param.type) for param in type.params]

        def call(arguments: Sequence[Any]) -> Any:
            if len(arguments) != len(puts):
                raise WrongValue("the arguments", str(len(arguments)), str(len(puts)))
            given = []
            for value, (name, put, of) in zip(arguments, puts, strict=True):
                try:
                    arena.fill(lambda arena, put=put, value=value: put(value, arena, arena.take(32)))  # type: ignore[misc]
                    given.append(to_stock(value, of))
                except Misfit as misfit:
                    raise misfit.wrong(name) from None
            answer = func(store, *given)
            return None if type.result is None else from_stock(answer, type.result)

        return call

    def define(self, linker: LinkerInstance, host: Host, arena: Arena) -> object:
        """Give the guest a function. Keep what comes back as long as the store."""
        result = host.type.result
        put = None if result is None else self._lowering.put(result)

        def called(store: Any, *arguments: Any) -> Any:
            try:
                # A function that only stands there has no parameters for the arguments that it gets.
                value = host.run([from_stock(each, param.type) for each, param in zip(arguments, host.type.params, strict=False)])
                if put is None or result is None:
                    return None
                arena.fill(lambda arena: put(value, arena, arena.take(32)))
                return to_stock(value, result)
            except BaseException as error:
                # Any other exception would wait in a variable of the library's for whichever thread looks next.
                raise WasmtimeError(host.failed(error)) from None

        linker.add_func(host.name, called)
        return called


_CLASSES: Final = {"bool": bool, "f32": float, "f64": float, "char": str, "string": str}


def _classes(type: Type | None) -> frozenset[type]:
    match type:
        case None:
            return frozenset({object})
        case Primitive(name):
            return frozenset({_CLASSES.get(name, int)})
        case ListType(element):
            return frozenset({bytes if element == U8 else list})
        case RecordType():
            return frozenset({Record})
        case TupleType():
            return frozenset({tuple})
        case EnumType():
            return frozenset({str})
        case FlagsType():
            return frozenset({set})
        case _:
            cases = _cases(type)
            return frozenset({StockVariant}) if _tagged(cases) else frozenset().union(*(_classes(case.type) for case in cases))


def _cases(type: Type) -> Sequence[Case]:
    match type:
        case OptionType(payload):
            return Case("none"), Case("some", payload)
        case ResultType(ok, err):
            return Case("ok", ok), Case("err", err)
        case VariantType(cases):
            return cases
        case _:
            return ()


def _tagged(cases: Iterable[Case]) -> bool:
    seen: set[type] = set()
    for case in cases:
        classes = _classes(case.type)
        if seen & classes:
            return True
        seen |= classes
    return False


def _as_case(value: Any, type: Type) -> tuple[str, Any]:
    """The case of a value of ours, and what it carries."""
    match type:
        case OptionType(payload):
            inner = value.value if isinstance(payload, OptionType) and value is not None else value
            return ("none", None) if value is None else ("some", inner)
        case ResultType():
            return "ok" if isinstance(value, Ok) else "err", value.value
        case _:
            return value.case, value.value


def to_stock(value: Any, type: Type) -> Any:
    """A value of ours as the library wants it. Raises `Misfit` for one that the library would take for another."""
    match type:
        case ListType(element) if element != U8:
            return [to_stock(each, element) for each in value]
        case RecordType(fields):
            record = Record()
            for field in fields:
                setattr(record, field.name, to_stock(value[field.name], field.type))
            return record
        case TupleType(elements):
            return tuple(to_stock(each, element) for each, element in zip(value, elements, strict=True))
        case FlagsType():
            return set(value)
        case VariantType() | OptionType() | ResultType():
            cases = _cases(type)
            name, inner = _as_case(value, type)
            payload = next(case.type for case in cases if case.name == name)
            converted = None if payload is None else to_stock(inner, payload)
            if _tagged(cases):
                return StockVariant(name, converted)
            if name != _guessed(converted, cases):
                raise Misfit(value, "a value whose case the library can tell by its class")
            return converted
        case _:
            return value


def _guessed(value: Any, cases: Iterable[Case]) -> str | None:
    """The case that the library takes a bare value for: a bool for an earlier int, anything for an earlier case that may hold None."""
    for case in cases:
        if value is None if case.type is None else isinstance(value, tuple(_classes(case.type))):
            return case.name
    return None


def from_stock(value: Any, type: Type) -> Any:
    """A value of the library's as ours."""
    match type:
        case ListType(element) if element != U8:
            return [from_stock(each, element) for each in value]
        case RecordType(fields):
            return {field.name: from_stock(getattr(value, field.name), field.type) for field in fields}
        case TupleType(elements):
            return tuple(from_stock(each, element) for each, element in zip(value, elements, strict=True))
        case FlagsType():
            return frozenset(value)
        case VariantType() | OptionType() | ResultType():
            cases = _cases(type)
            case = next(case for case in cases if (value.tag == case.name if _tagged(cases) else _fits(value, case.type)))
            inner = value.payload if _tagged(cases) else value
            return _from_case(case.name, None if case.type is None else from_stock(inner, case.type), type)
        case _:
            return value


def _fits(value: Any, type: Type | None) -> bool:
    """Whether a bare value is of this case: its class is exactly one of the case's, for a bool is an int too."""
    return value is None if type is None else value.__class__ in _classes(type) or (value is None and object in _classes(type))


def _from_case(name: str, value: Any, type: Type) -> Any:
    match type:
        case OptionType(payload):
            return None if name == "none" else Some(value) if isinstance(payload, OptionType) else value
        case ResultType():
            return Ok(value) if name == "ok" else Err(value)
        case _:
            return Variant(name, value)
