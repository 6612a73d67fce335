"""The grammar of WIT: one file as it is written, its names not yet looked up."""

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from msgspec import Struct, field

from treblehook.runtimes.wasm.types import (
    PRIMITIVES,
    Case,
    EnumType,
    Field,
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
from treblehook.runtimes.wasm.wit.tokens import Cursor

T = TypeVar("T")
Lookup = Callable[[str], Type]
Unresolved = Callable[[Lookup], Type]
"""A type whose names are still to be looked up."""

_NOT_READ: Final = ("resource", "future", "stream", "own", "borrow", "async")


class Use(Struct):
    interface: str
    """As written: `types`, or `murmur:hook/lifecycle@0.9.0`."""
    name: str


class ParsedInterface(Struct):
    name: str
    types: dict[str, Unresolved] = field(default_factory=dict)
    uses: dict[str, Use] = field(default_factory=dict)
    functions: dict[str, Callable[[Lookup], FunctionType]] = field(default_factory=dict)


class ParsedFile(Struct):
    package: str | None
    """`namespace:name`; a package may say its name in one of its files only."""
    version: str
    """With its `@`, or empty."""
    interfaces: list[ParsedInterface]


def parse(text: str, file: str) -> ParsedFile:
    """Read one file; its worlds are stepped over. Raises `WitError`."""
    cursor = Cursor(text, file)
    package, version = None, ""
    _annotations(cursor)
    if cursor.skip("package"):
        package = f"{cursor.name()}{_colon(cursor)}{cursor.name()}"
        version = _version(cursor)
        cursor.need(";")
    parsed = ParsedFile(package, version, [])
    while cursor.next.kind != "end":
        _annotations(cursor)
        if cursor.skip("interface"):
            parsed.interfaces.append(_interface(cursor))
        elif cursor.skip("world"):
            cursor.name()
            _block(cursor)
        else:
            raise cursor.error("`interface` or `world`")
    return parsed


def _colon(cursor: Cursor) -> str:
    cursor.need(":")
    return ":"


def _version(cursor: Cursor) -> str:
    return cursor.take().text if cursor.next.kind == "version" else ""


def _annotations(cursor: Cursor) -> None:
    """Step over `@since(…)` and its kind."""
    while cursor.skip("@"):
        cursor.name()
        if cursor.skip("("):
            while not cursor.skip(")"):
                if cursor.take().kind == "end":
                    raise cursor.error("`)`")


def _block(cursor: Cursor) -> None:
    cursor.need("{")
    depth = 1
    while depth:
        token = cursor.take()
        if token.kind == "end":
            raise cursor.error("`}`")
        depth += {"{": 1, "}": -1}.get(token.text, 0)


def _interface(cursor: Cursor) -> ParsedInterface:
    interface = ParsedInterface(cursor.name())
    cursor.need("{")
    while not cursor.skip("}"):
        _annotations(cursor)
        _item(cursor, interface)
    return interface


def _item(cursor: Cursor, interface: ParsedInterface) -> None:
    word = cursor.name()
    if word == "use":
        _use(cursor, interface)
    elif word == "type":
        name = cursor.name()
        cursor.need("=")
        interface.types[name] = _type(cursor)
        cursor.need(";")
    elif word in _DEFINITIONS and cursor.next.text != ":":
        name = cursor.name()
        interface.types[name] = _DEFINITIONS[word](cursor)
    elif word in _NOT_READ and cursor.next.text != ":":
        raise cursor.error(f"something other than a {word}, which is not read here")
    else:
        cursor.need(":")
        interface.functions[word] = _function(cursor)
        cursor.need(";")


def _use(cursor: Cursor, interface: ParsedInterface) -> None:
    source = cursor.name()
    if cursor.skip(":"):
        source += f":{cursor.name()}"
        cursor.need("/")
        source += f"/{cursor.name()}{_version(cursor)}"
    cursor.need(".")
    cursor.need("{")
    for name in _listed(cursor, Cursor.name, "}"):
        interface.uses[cursor.name() if cursor.skip("as") else name] = Use(source, name)
    cursor.need(";")


def _listed(cursor: Cursor, one: Callable[[Cursor], T], close: str) -> Iterator[T]:
    """Members with a comma between them, and perhaps behind the last."""
    while not cursor.skip(close):
        _annotations(cursor)
        yield one(cursor)
        if not cursor.skip(","):
            cursor.need(close)
            return


def _field(cursor: Cursor) -> tuple[str, Unresolved]:
    name = cursor.name()
    cursor.need(":")
    return name, _type(cursor)


def _case(cursor: Cursor) -> tuple[str, Unresolved | None]:
    name = cursor.name()
    if not cursor.skip("("):
        return name, None
    payload = _type(cursor)
    cursor.need(")")
    return name, payload


def _record(cursor: Cursor) -> Unresolved:
    cursor.need("{")
    fields = list(_listed(cursor, _field, "}"))
    return lambda lookup: RecordType(tuple(Field(name, type(lookup)) for name, type in fields))


def _variant(cursor: Cursor) -> Unresolved:
    cursor.need("{")
    cases = list(_listed(cursor, _case, "}"))
    return lambda lookup: VariantType(tuple(Case(name, None if type is None else type(lookup)) for name, type in cases))


def _enum(cursor: Cursor) -> Unresolved:
    cursor.need("{")
    names = tuple(_listed(cursor, Cursor.name, "}"))
    return lambda lookup: EnumType(names)


def _flags(cursor: Cursor) -> Unresolved:
    cursor.need("{")
    names = tuple(_listed(cursor, Cursor.name, "}"))
    return lambda lookup: FlagsType(names)


_DEFINITIONS: Final = {"record": _record, "variant": _variant, "enum": _enum, "flags": _flags}


def _function(cursor: Cursor) -> Callable[[Lookup], FunctionType]:
    cursor.need("func")
    cursor.need("(")
    params = list(_listed(cursor, _field, ")"))
    result = _type(cursor) if cursor.skip("->") else None
    return lambda lookup: FunctionType(
        tuple(Field(name, type(lookup)) for name, type in params), None if result is None else result(lookup)
    )


def _type(cursor: Cursor) -> Unresolved:
    word = cursor.next.text
    if word in _NOT_READ:
        raise cursor.error(f"something other than a {word}, which is not read here")
    name = cursor.name()
    if name in PRIMITIVES:
        primitive = Primitive(name)
        return lambda lookup: primitive
    if name in ("list", "option"):
        return _of_one(cursor, ListType if name == "list" else OptionType)
    if name == "tuple":
        cursor.need("<")
        elements = list(_listed(cursor, _type, ">"))
        return lambda lookup: TupleType(tuple(element(lookup) for element in elements))
    if name == "result":
        return _result(cursor)
    return lambda lookup: lookup(name)


def _of_one(cursor: Cursor, make: Callable[[Type], Type]) -> Unresolved:
    cursor.need("<")
    part = _type(cursor)
    cursor.need(">")
    return lambda lookup: make(part(lookup))


def _result(cursor: Cursor) -> Unresolved:
    ok = err = None
    if cursor.skip("<"):
        ok = None if cursor.skip("_") else _type(cursor)
        err = _type(cursor) if cursor.skip(",") else None
        cursor.need(">")
    return lambda lookup: ResultType(None if ok is None else ok(lookup), None if err is None else err(lookup))
