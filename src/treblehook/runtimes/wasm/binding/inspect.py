"""What a component imports and exports, read from its type; nothing of it runs."""

from wasmtime import Engine
from wasmtime import _ffi as ffi
from wasmtime import component as library
from wasmtime.component import Component
from wasmtime.component._types import ComponentExtern

from treblehook.runtimes.wasm import types
from treblehook.runtimes.wasm.types import Case, Field, FunctionType, Primitive, Type

_PRIMITIVES = {
    getattr(library, name): Primitive(name.lower())
    for name in ("Bool", "S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64", "F32", "F64", "Char", "String")
}


_MOST = 10_000
"""So many parts of a function's type are read. What we expect has some dozens; a component's may share its parts and unfold to millions."""
_TOO_LARGE = types.OpaqueType("a type with too many parts")


class Surface:
    """The outside of a component. Only what is asked for is read: a type costs some hundred calls of the library."""

    def __init__(self, engine: Engine, component: Component) -> None:
        type = component.type
        self._engine = engine
        self._imports = type.imports(engine)
        self._exports = type.exports(engine)
        self._functions: dict[int, dict[str, library.FuncType]] = {}
        self._types: dict[str, FunctionType] = {}

    @property
    def imports(self) -> tuple[str, ...]:
        """Every imported interface, and whatever is imported beside them."""
        return tuple(self._imports)

    @property
    def exports(self) -> tuple[str, ...]:
        """Every exported function: `INTERFACE#FUNCTION`, or only its name where it is in no interface."""
        return tuple(f"{name}#{function}" if function else name for name, extern in self._exports.items() for function in self._of(extern))

    def export_type(self, name: str) -> FunctionType:
        """Raises `KeyError`."""
        if name not in self._types:
            interface, _, function = name.partition("#")
            self._types[name] = function_type(self._of(self._exports[interface])[function])
        return self._types[name]

    def import_type(self, interface: str, function: str) -> FunctionType:
        """Raises `KeyError`."""
        name = f"import {interface}#{function}"
        if name not in self._types:
            self._types[name] = function_type(self._of(self._imports[interface])[function])
        return self._types[name]

    def imported_functions(self, interface: str) -> tuple[str, ...]:
        """Raises `KeyError`."""
        return tuple(self._of(self._imports[interface]))

    def _of(self, extern: ComponentExtern) -> dict[str, library.FuncType]:
        """The functions of an interface. A function in no interface is like one with a single function that has no name."""
        if id(extern) not in self._functions:
            item = extern.ty
            inner: dict[str, library.ComponentItem] = {}
            if isinstance(item, library.FuncType):
                inner = {"": item}
            elif isinstance(item, library.ComponentInstanceType):
                inner = {name: each.ty for name, each in item.exports(self._engine).items()}
            self._functions[id(extern)] = {name: type for name, type in inner.items() if isinstance(type, library.FuncType)}
        return self._functions[id(extern)]


def function_type(type: library.FuncType) -> FunctionType:
    """A function's type as a value of ours; the parts of a type that is too large are left out."""
    reader = _Reader()
    params = tuple(Field(name, reader.read(param)) for name, param in type.params)
    return FunctionType(params, reader.optional(type.result), ffi.wasmtime_component_func_type_async(type.ptr()))


class _Reader:
    def __init__(self) -> None:
        self._left = _MOST

    def read(self, type: library.ValType) -> Type:
        """A value's type as a value of ours."""
        self._left -= 1
        return _TOO_LARGE if self._left < 0 else self._read(type)

    def optional(self, type: library.ValType | None) -> Type | None:
        return None if type is None else self.read(type)

    def _read(self, type: library.ValType) -> Type:
        if type.__class__ in _PRIMITIVES:
            return _PRIMITIVES[type.__class__]
        match type:
            case library.ListType():
                return types.ListType(self.read(type.element))
            case library.RecordType():
                return types.RecordType(tuple(Field(name, self.read(field)) for name, field in type.fields))
            case library.TupleType():
                return types.TupleType(tuple(map(self.read, type.elements)))
            case library.VariantType():
                return types.VariantType(tuple(Case(name, self.optional(payload)) for name, payload in type.cases))
            case library.EnumType():
                return types.EnumType(tuple(type.names))
            case library.OptionType():
                return types.OptionType(self.read(type.payload))
            case library.ResultType():
                return types.ResultType(self.optional(type.ok), self.optional(type.err))
            case library.FlagsType():
                return types.FlagsType(tuple(type.names))
            case _:
                return types.OpaqueType(f"a {type.__class__.__name__.removesuffix('Type').lower()}")
