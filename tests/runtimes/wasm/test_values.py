"""Values cross as they are: by the direct conversion, by the library's own, and the two agree on values of every type."""

import asyncio
import math
import struct
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.support.component_text import PADDING, echo, forwarding, padded
from tests.support.every_type import EVENT, FINE
from treblehook.runtimes.wasm import Err, Grants, HostFunction, HostInterface, Ok, Some, Variant, WasmRuntime, WrongValue
from treblehook.runtimes.wasm.binding.convert import conversion
from treblehook.runtimes.wasm.binding.direct import DirectConversion
from treblehook.runtimes.wasm.binding.misfit import Misfit
from treblehook.runtimes.wasm.binding.stock import StockConversion, to_stock
from treblehook.runtimes.wasm.types import (
    BOOL,
    CHAR,
    F32,
    F64,
    INTEGERS,
    STRING,
    U8,
    Case,
    EnumType,
    Field,
    FlagsType,
    ListType,
    OptionType,
    Primitive,
    RecordType,
    ResultType,
    TupleType,
    Type,
    VariantType,
)

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z][a-z0-9]{0,3})?", fullmatch=True)


def several_names(most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(NAMES, min_size=1, max_size=most, unique=True)


def compound(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    maybe = st.none() | inner
    return st.one_of(
        st.builds(ListType, inner),
        st.builds(OptionType, inner),
        st.builds(ResultType, maybe, maybe),
        st.builds(lambda types: TupleType(tuple(types)), st.lists(inner, min_size=1, max_size=4)),
        st.builds(
            lambda names, types: RecordType(tuple(map(Field, names, types))), several_names(4), st.lists(inner, min_size=4, max_size=4)
        ),
        st.builds(
            lambda names, types: VariantType(tuple(map(Case, names, types))), several_names(4), st.lists(maybe, min_size=4, max_size=4)
        ),
    )


PRIMITIVE = st.sampled_from([*map(Primitive, INTEGERS), BOOL, F32, F64, CHAR, STRING])
NAMED = st.builds(lambda names: EnumType(tuple(names)), several_names(5)) | st.builds(
    lambda names: FlagsType(tuple(names)), several_names(9)
)
TYPES = st.recursive(PRIMITIVE | NAMED | st.just(ListType(U8)), compound, max_leaves=8)


def values(type: Type) -> st.SearchStrategy[Any]:
    """Values of a type, in Python's form."""
    match type:
        case Primitive("bool"):
            return st.booleans()
        case Primitive("f32"):
            return st.floats(width=32)
        case Primitive("f64"):
            return st.floats()
        case Primitive("char"):
            return st.characters(exclude_categories=["Cs"])
        case Primitive("string"):
            return st.text(st.characters(exclude_categories=["Cs"]))
        case Primitive(name):
            return st.integers(*INTEGERS[name])
        case ListType(Primitive("u8")):
            return st.binary()
        case ListType(element):
            return st.lists(values(element), max_size=4)
        case OptionType(payload):
            inner = values(payload)
            return st.none() | (inner.map(Some) if isinstance(payload, OptionType) else inner)
        case ResultType(ok, err):
            return carried(ok).map(Ok) | carried(err).map(Err)
        case TupleType(elements):
            return st.tuples(*map(values, elements))
        case RecordType(fields):
            return st.fixed_dictionaries({field.name: values(field.type) for field in fields})
        case VariantType(cases):
            return st.one_of(*(st.builds(Variant, st.just(case.name), carried(case.type)) for case in cases))
        case EnumType(names):
            return st.sampled_from(names)
        case FlagsType(names):
            return st.frozensets(st.sampled_from(names))
        case _:
            raise TypeError(type)


def carried(type: Type | None) -> st.SearchStrategy[Any]:
    return st.none() if type is None else values(type)


def same(one: Any, other: Any) -> bool:
    """Equal, of the same class all the way down, and NaN is NaN."""
    if one.__class__ is not other.__class__:
        return False
    match one:
        case float():
            return struct.pack("<d", one) == struct.pack("<d", other) or (math.isnan(one) and math.isnan(other))
        case list() | tuple():
            return len(one) == len(other) and all(map(same, one, other))
        case dict():
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        case Variant():
            return bool(one.case == other.case) and same(one.value, other.value)
        case Ok() | Err() | Some():
            return same(one.value, other.value)
        case _:
            return bool(one == other)


def expressible(value: Any, type: Type) -> bool:
    """Whether the library's own conversion can be told which value is meant."""
    try:
        to_stock(value, type)
    except Misfit:
        return False
    return True


async def echoed(runtime: WasmRuntime, type: Type, several: list[Any]) -> list[Any]:
    instance = await runtime.open(await runtime.load(echo(type).encode()), {"echo": padded(type)})
    answers = [await instance.call("echo", (value, *PADDING), seconds=30) for value in several]
    await instance.close()
    assert all(answer[1:] == PADDING for answer in answers)
    return [answer[0] for answer in answers]


def runtime_with(chosen: DirectConversion | StockConversion) -> WasmRuntime:
    runtime = WasmRuntime()
    runtime._conversion = chosen
    return runtime


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_both_conversions_give_back_what_they_were_given(data: st.DataObject) -> None:
    type = data.draw(TYPES)
    several = data.draw(st.lists(values(type), min_size=1, max_size=4))

    async def through(chosen: DirectConversion | StockConversion) -> list[Any]:
        async with runtime_with(chosen) as runtime:
            return await echoed(runtime, type, several)

    assert same(asyncio.run(through(DirectConversion())), several)
    assume(all(expressible(value, type) for value in several))
    assert same(asyncio.run(through(StockConversion())), several)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_host_functions_are_given_and_give_the_same_values(data: st.DataObject) -> None:
    type = data.draw(TYPES)
    value = data.draw(values(type))
    assume(expressible(value, type))

    async def through(chosen: DirectConversion | StockConversion) -> None:
        seen = []

        def host(argument: Any) -> Any:
            seen.append(argument)
            return argument

        interface = HostInterface("tests:host/echo@1.0.0", {"echo": HostFunction(padded(type), host)})
        async with runtime_with(chosen) as runtime:
            component = await runtime.load(forwarding(type, interface.name).encode())
            instance = await runtime.open(component, {"echo": padded(type)}, Grants([interface]))
            whole = (value, *PADDING)
            assert same(await instance.call("echo", whole, seconds=30), whole)
            assert same(seen, [whole])

    asyncio.run(through(DirectConversion()))
    asyncio.run(through(StockConversion()))


def test_the_direct_conversion_is_used_with_this_library() -> None:
    assert isinstance(conversion(), DirectConversion)


def test_the_stock_call_is_used_where_the_library_is_laid_out_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wasmtime._ffi.WASMTIME_COMPONENT_FLAGS.value", 99)

    assert isinstance(conversion(), StockConversion)


def test_the_stock_call_is_used_where_the_library_lacks_a_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("wasmtime._ffi.wasmtime_component_valresult_t")

    assert isinstance(conversion(), StockConversion)


def test_the_stock_call_is_used_where_the_library_lacks_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treblehook.runtimes.wasm.binding.direct._clone", None)

    assert isinstance(conversion(), StockConversion)


@pytest.mark.parametrize(
    ("wrong", "place", "found", "allowed"),
    [
        ({"name": 5}, ".name", "int 5", "a str"),
        ({"name": "\ud800"}, ".name", "a str with a lone surrogate", "text that has a UTF-8 form"),
        ({"argv": ["a", None]}, ".argv[1]", "None", "a str"),
        ({"argv": "ab"}, ".argv", "str 'ab'", "a list"),
        ({"mode": "idle"}, ".mode", "str 'idle'", "one of fast, slow"),
        ({"marks": {"blue"}}, ".marks", "flags 'blue'", "a set of red"),
        ({"marks": ["red"]}, ".marks", "a list", "a set of red"),
        ({"size": -1}, ".size", "int -1", "an int from 0 to 4294967295"),
        ({"size": 1 << 32}, ".size", "int 4294967296", "an int from 0 to 4294967295"),
        ({"size": 1 << 9999}, ".size", "a huge number", "an int from 0 to 4294967295"),
        ({"size": True}, ".size", "bool True", "an int from 0 to 4294967295"),
        ({"where": "x"}, ".where", "str 'x'", "None or Some"),
        ({"where": Some("xy")}, ".where", "str 'xy'", "one character"),
        ({"where": Some("\ud800")}, ".where", "str '\\ud800'", "one character"),
        ({"then": Variant("run")}, ".then", "Variant 'run'", "a Variant of stop, go"),
        ({"then": Variant("go", 256)}, ".then.go", "int 256", "an int from 0 to 255"),
        ({"then": Variant("stop", 1)}, ".then.stop", "int 1", "None"),
        ({"both": 1.5}, ".both", "float 1.5", "Ok or Err"),
        ({"both": Ok(1e300)}, ".both.ok", "float 1e+300", "a float that f32 can hold"),
        ({"both": Err("no")}, ".both.err", "str 'no'", "a bool"),
        ({"pair": (1,)}, ".pair", "a tuple", "a tuple of 2"),
        ({"pair": (1, "2")}, ".pair[1]", "str '2'", "an int from 0 to 255"),
        ({"raw": [1]}, ".raw", "a list", "bytes"),
        ({"raw": "x" * 100}, ".raw", "str '" + "x" * 60 + "'…", "bytes"),
    ],
)
@pytest.mark.parametrize("chosen", [DirectConversion(), StockConversion()], ids=["direct", "stock"])
async def test_a_wrong_value_is_told_with_its_place(
    chosen: DirectConversion | StockConversion, wrong: dict[str, Any], place: str, found: str, allowed: str
) -> None:
    async with runtime_with(chosen) as runtime:
        instance = await runtime.open(await runtime.load(echo(EVENT).encode()), {"echo": padded(EVENT)})

        with pytest.raises(WrongValue) as raised:
            await instance.call("echo", (FINE | wrong, *PADDING), seconds=30)

        assert (raised.value.place, raised.value.found, raised.value.allowed) == (f"value[0]{place}", found, allowed)
        # The guest was not entered, and goes on.
        assert await instance.call("echo", (FINE, *PADDING), seconds=30) == (FINE, *PADDING)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({key: value for key, value in FINE.items() if key != "argv"}, "one without argv"),
        (FINE | {"agrv": []}, "'agrv' too"),
        ({}, "one without argv, both, marks, mode, name, pair, raw, size, then, where"),
        (list(FINE), "a list"),
    ],
)
async def test_a_record_has_exactly_its_fields(runtime: WasmRuntime, value: object, found: str) -> None:
    instance = await runtime.open(await runtime.load(echo(EVENT).encode()), {"echo": padded(EVENT)})

    with pytest.raises(WrongValue, match="allowed is a record with name, argv, mode") as raised:
        await instance.call("echo", (value, *PADDING), seconds=30)

    assert raised.value.found == found


@pytest.mark.parametrize("arguments", [(), (1, 2)])
async def test_too_few_or_too_many_arguments_are_a_wrong_value(runtime: WasmRuntime, arguments: tuple[int, ...]) -> None:
    instance = await runtime.open(await runtime.load(echo(U8).encode()), {"echo": padded(U8)})

    with pytest.raises(WrongValue, match=rf"the arguments: found {len(arguments)}, allowed is 1"):
        await instance.call("echo", *arguments, seconds=30)


@pytest.mark.parametrize("size", [4_000, 100_000, 5_000_000])
async def test_large_values_cross(runtime: WasmRuntime, size: int) -> None:
    type = TupleType((STRING, ListType(STRING)))
    instance = await runtime.open(await runtime.load(echo(type).encode()), {"echo": padded(type)})
    value = ("é" * (size // 2), ["x" * 100] * (size // 1000))

    for _ in range(3):
        assert (await instance.call("echo", (value, *PADDING), seconds=30))[0] == value
    assert (await instance.call("echo", (("", []), *PADDING), seconds=30))[0] == ("", [])
