"""The form of an event that comes again and again: Lua code that makes its tables from leaves alone, written once per form and VM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treblehook.runtimes.lua.machine import COMMAND, Machine
from treblehook.runtimes.lua.values import encoded

# Names of a table in order; the name of a value that is a table is followed by its shape.
Shape = tuple[Any, ...]

LONGEST_LEAF = 32 * 1024
MOST_LEAVES = 30
LONGEST_NAME = 100
# Shapes that one VM keeps code for; other events are built piece by piece.
MOST_SHAPES = 50
# Seconds in which Lua must be able to compile the code of one shape.
COMPILING = 1.0


def shape(table: Mapping[str, Any], leaves: list[Any]) -> Shape | None:
    """The shape of a table of scalars and such tables, its leaves appended; None for any other.

    Raises `UnicodeEncodeError` for a lone surrogate.
    """
    names: list[Any] = []
    for name, value in table.items():
        names.append(name)
        kind = value.__class__
        if kind is str:
            if len(value) > LONGEST_LEAF:
                return None
            leaves.append(value.encode())
        elif kind is dict:
            inner = shape(value, leaves)
            if inner is None:
                return None
            names.append(inner)
        elif kind is int or value is None or kind is bool or kind is float:
            leaves.append(value)
        else:
            return None
    return tuple(names)


class Shapes:
    """The entries of one VM's prelude by the shapes of context and event."""

    def __init__(self, machine: Machine) -> None:
        self.entries: dict[tuple[Shape | None, ...], int] = {}
        self._machine = machine
        self._seen: set[tuple[Shape | None, ...]] = set()

    def learn(self, shapes: tuple[Shape | None, ...], leaves: int) -> int:
        """The entry for events of these shapes, made when they come for the second time; 0 for those that are built piece by piece."""
        if None in shapes or shapes in self.entries or len(self._seen) >= MOST_SHAPES:
            return 0
        if shapes not in self._seen:
            self._seen.add(shapes)
            return 0
        code = _source(shapes, leaves)
        self.entries[shapes] = 0 if code is None else int(self._machine.now(COMPILING, COMMAND, b"shape", code)[1])
        return self.entries[shapes]


def _source(shapes: tuple[Any, ...], leaves: int) -> bytes | None:
    """Lua code that calls a held function with tables of these shapes; None where names are no texts, or much too long."""
    if leaves > MOST_LEAVES:
        return None
    numbers = iter(range(1, leaves + 1))
    try:
        tables = b", ".join([_table(each, numbers) for each in shapes])
    except ValueError:
        return None
    parameters = b", ".join([b"id", *[b"l%d" % number for number in range(1, leaves + 1)]])
    return b"local functions, first = ... return function(%s) local r = functions[id](%s) if r ~= nil then return first(r) end end" % (
        parameters,
        tables,
    )


def _table(names: Shape, numbers: Iterator[int]) -> bytes:
    fields = []
    for name, inner in zip(names, (*names[1:], None), strict=True):
        if isinstance(name, tuple):
            continue
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            raise ValueError
        value = _table(inner, numbers) if isinstance(inner, tuple) else b"l%d" % next(numbers)
        quoted = b"".join([b"\\%03d" % byte for byte in encoded(name)])
        fields.append(b'["%s"]=%s' % (quoted, value))
    return b"{%s}" % b", ".join(fields)
