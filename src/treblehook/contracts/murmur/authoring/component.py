"""A component around a core module of a hook: its exports get the types of the nine functions, its imports those that the host has.

A lowered import needs the memory of the module that imports it, which does not exist before it is there: the module is given functions
that call through a table, and the table is filled once the memory exists.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from treblehook.contracts.murmur.authoring import wasi_text
from treblehook.contracts.murmur.authoring.core_module import CoreFunction, CoreModule, CoreModuleInvalid, put_into, read_core_module
from treblehook.contracts.murmur.authoring.type_text import TypeText
from treblehook.contracts.murmur.bindings import Binding
from treblehook.contracts.murmur.interfaces import CONVERSATION, INFERENCE, LIFECYCLE, TASK_IO, TOKENS, interface
from treblehook.runtimes.wasm.binding.engine import to_binary

_ENCODING: Final = "string-encoding=utf8"
_NEEDED: Final = ("memory", "cabi_realloc", *(binding.value for binding in Binding))


def make_component(module: bytes) -> bytes:
    """Raises `CoreModuleInvalid`, for a module that lacks one of the nine functions, its memory or `cabi_realloc`, or that imports what
    no hook may have."""
    core = read_core_module(module)
    if missing := [name for name in _NEEDED if name not in core.exports]:
        raise CoreModuleInvalid(f"it does not export {', '.join(missing)}")
    return put_into(to_binary(_text(core).encode()), module)


def _text(core: CoreModule) -> str:
    imports = core.imports
    return "\n".join(
        [
            "(component $root",
            *_instances(imports),
            _table_of_calls(imports),
            "(core instance $calls (instantiate $calls))",
            "(core module $hook)",
            f"(core instance $hook (instantiate $hook {' '.join(_given(imports))}))",
            *_lowered(imports),
            *_filled(imports),
            *_exported(core),
            ")",
        ]
    )


def _instances(imports: Sequence[CoreFunction]) -> Iterator[str]:
    """The instances that the component imports."""
    used = dict.fromkeys(function.interface for function in imports)
    wasi = [name for name in wasi_text.INSTANCES if name in used or (name == wasi_text.FILES and wasi_text.PREOPENS in used)]
    for name in wasi:
        yield f'(import "{name}" (instance {_instance(name)} {wasi_text.INSTANCES[name]}))'
        if name == wasi_text.FILES:
            yield f'(alias export {_instance(name)} "descriptor" (type $descriptor))'
    for at, name in enumerate(name for name in used if name not in wasi):
        if name not in (INFERENCE, TOKENS, TASK_IO, CONVERSATION):
            raise CoreModuleInvalid(f"it imports {name}, which is not served")
        offered = interface(name)
        types = TypeText(offered.types, f"i{at}")
        functions = [f'(export "{each}" (func {types.function(type)}))' for each, type in offered.functions.items()]
        yield f'(import "{name}" (instance {_instance(name)} {" ".join([*types.imported(), *functions])}))'


def _instance(name: str) -> str:
    """An identifier for an imported instance."""
    return "$" + "".join(character if character.isalnum() else "-" for character in name)


def _table_of_calls(imports: Sequence[CoreFunction]) -> str:
    functions = [
        f'(func (export "{at}") {_signature(function)} {" ".join(f"(local.get {each})" for each in range(len(function.params)))} '
        f"(call_indirect {_signature(function)} (i32.const {at})))"
        for at, function in enumerate(imports)
    ]
    return f'(core module $calls (table (export "table") {len(imports)} {len(imports)} funcref) {" ".join(functions)})'


def _signature(function: CoreFunction) -> str:
    return f"(param {' '.join(function.params)}) (result {' '.join(function.results)})"


def _given(imports: Sequence[CoreFunction]) -> Iterator[str]:
    """What the module is instantiated with, by the names of the interfaces."""
    for name in dict.fromkeys(function.interface for function in imports):
        functions = [
            f'(export "{function.name}" (func $calls "{at}"))' for at, function in enumerate(imports) if function.interface == name
        ]
        yield f'(with "{name}" (instance {" ".join(functions)}))'


def _lowered(imports: Sequence[CoreFunction]) -> Iterator[str]:
    options = f'(memory (core memory $hook "memory")) (realloc (core func $hook "cabi_realloc")) {_ENCODING}'
    for at, function in enumerate(imports):
        if function.name == wasi_text.DROP:
            yield f"(core func $l{at} (canon resource.drop $descriptor))"
        else:
            yield f'(core func $l{at} (canon lower (func {_instance(function.interface)} "{function.name}") {options}))'


def _filled(imports: Sequence[CoreFunction]) -> Iterator[str]:
    """A module that fills the table as it starts."""
    functions = " ".join(f'(import "" "{at}" (func $f{at} {_signature(function)}))' for at, function in enumerate(imports))
    elements = " ".join(f"$f{at}" for at in range(len(imports)))
    given = " ".join(f'(export "{at}" (func $l{at}))' for at in range(len(imports)))
    table = f'(import "" "table" (table {len(imports)} {len(imports)} funcref))'
    yield f"(core module $fill {functions} {table} (elem (i32.const 0) func {elements}))"
    yield f'(core instance (instantiate $fill (with "" (instance (export "table" (table $calls "table")) {given}))))'


def _exported(core: CoreModule) -> Iterator[str]:
    offered = interface(LIFECYCLE)
    types = TypeText(offered.types, "x")
    lifted = []
    for name, type in offered.functions.items():
        after = f"cabi_post_{name}"
        done = f'(post-return (core func $hook "{after}"))' if after in core.exports else ""
        options = f'(memory (core memory $hook "memory")) (realloc (core func $hook "cabi_realloc")) {_ENCODING} {done}'
        lifted.append(f'(func ${name} {types.function(type)} (canon lift (core func $hook "{name}") {options}))')
    yield from types.exported()
    yield from lifted
    functions = " ".join(f'(export "{name}" (func ${name}))' for name in offered.functions)
    yield f"(instance $exported {functions})"
    yield f'(export "{LIFECYCLE}" (instance $exported))'
