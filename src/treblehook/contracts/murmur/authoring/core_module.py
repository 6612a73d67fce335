"""Reading a core module: which functions it imports and what it exports, by the binary format of WebAssembly."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

MODULE: Final = b"\0asm\1\0\0\0"
_VALUES: Final = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64"}
_TYPES, _IMPORTS, _EXPORTS = 1, 2, 7
_CORE_MODULE: Final = 1
"""The number of a component's section that holds a core module."""
_PREAMBLE: Final = 8


class CoreModuleInvalid(Exception):
    """The bytes are no core module that a hook can be made of; the message says why."""


class CoreFunction(Struct, frozen=True):
    """A function that a core module imports, with its types of values as text."""

    interface: str
    name: str
    params: tuple[str, ...]
    results: tuple[str, ...]


class CoreModule(Struct, frozen=True):
    """`exports` are the names, whatever they are of."""

    imports: tuple[CoreFunction, ...]
    exports: frozenset[str]


def read_core_module(module: bytes) -> CoreModule:
    """Raises `CoreModuleInvalid`."""
    if not module.startswith(MODULE):
        raise CoreModuleInvalid("it is no core module")
    sections = dict(_sections(module))
    types = list(_types(_Reader(sections.get(_TYPES, b"\0"))))
    imports = tuple(_imports(_Reader(sections.get(_IMPORTS, b"\0")), types))
    return CoreModule(imports, frozenset(_exports(_Reader(sections.get(_EXPORTS, b"\0")))))


def put_into(component: bytes, module: bytes) -> bytes:
    """The component with `module` in the place of its second core module, which is empty."""
    reader = _Reader(component, _PREAMBLE)
    seen = 0
    while reader.more:
        start = reader.at
        number = reader.byte()
        size = reader.number()
        end = reader.at + size
        if number == _CORE_MODULE:
            seen += 1
            if seen == 2:
                return component[:start] + bytes([_CORE_MODULE]) + _leb(len(module)) + module + component[end:]
        reader.at = end
    raise ValueError("the component has no second core module")


class _Reader:
    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    @property
    def more(self) -> bool:
        return self.at < len(self._data)

    def byte(self) -> int:
        if not self.more:
            raise CoreModuleInvalid("it ends within a section")
        self.at += 1
        return self._data[self.at - 1]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def take(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self._data):
            raise CoreModuleInvalid("it ends within a section")
        return self._data[self.at - size : self.at]

    def text(self) -> str:
        return self.take(self.number()).decode()


def _sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    reader = _Reader(module, _PREAMBLE)
    while reader.more:
        number = reader.byte()
        yield number, reader.take(reader.number())


def _types(reader: _Reader) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for _ in range(reader.number()):
        if reader.byte() != 0x60:
            raise CoreModuleInvalid("it has types other than functions")
        yield _values(reader), _values(reader)


def _values(reader: _Reader) -> tuple[str, ...]:
    values = [reader.byte() for _ in range(reader.number())]
    unknown = [value for value in values if value not in _VALUES]
    if unknown:
        raise CoreModuleInvalid(f"a function takes or gives a value of the kind {unknown[0]:#x}")
    return tuple(_VALUES[value] for value in values)


def _imports(reader: _Reader, types: list[tuple[tuple[str, ...], tuple[str, ...]]]) -> Iterator[CoreFunction]:
    for _ in range(reader.number()):
        interface, name, kind = reader.text(), reader.text(), reader.byte()
        if kind != 0:
            raise CoreModuleInvalid(f"it imports {interface}.{name}, which is no function")
        yield CoreFunction(interface, name, *types[reader.number()])


def _exports(reader: _Reader) -> Iterator[str]:
    for _ in range(reader.number()):
        yield reader.text()
        reader.byte()
        reader.number()


def _leb(value: int) -> bytes:
    data = b""
    while value >= 0x80:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])
