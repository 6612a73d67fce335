"""Interfaces of one or more packages, their names looked up."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from treblehook.runtimes.wasm.types import FunctionType, Type
from treblehook.runtimes.wasm.wit.syntax import ParsedFile, ParsedInterface, parse
from treblehook.runtimes.wasm.wit.tokens import WitError


class Interface(Struct, frozen=True):
    """An interface under its full name (`murmur:hook/lifecycle@0.9.0`), with its functions and the types that it names."""

    name: str
    functions: Mapping[str, FunctionType]
    types: Mapping[str, Type]

    def exports(self) -> dict[str, FunctionType]:
        """Every function by the name under which an instance calls it: `INTERFACE#FUNCTION`."""
        return {f"{self.name}#{name}": type for name, type in self.functions.items()}


def read_folder(folder: Path) -> dict[str, Interface]:
    """All interfaces of `folder` and of the folders in its `deps`, by their full names. Raises `WitError`, `OSError`."""
    deps = folder / "deps"
    folders = [folder, *sorted(path for path in deps.iterdir() if path.is_dir())] if deps.is_dir() else [folder]
    return _resolve([_package([(path.read_text(), str(path)) for path in sorted(each.glob("*.wit"))]) for each in folders])


def read_text(text: str, file: str = "text") -> dict[str, Interface]:
    """All interfaces of one package, by their full names. Raises `WitError`."""
    return _resolve([_package([(text, file)])])


class _Named(Struct):
    interface: ParsedInterface
    file: str
    package: str
    version: str


def _package(files: Iterable[tuple[str, str]]) -> list[_Named]:
    """The interfaces of one package; its name may be in any of its files."""
    parsed: list[tuple[str, ParsedFile]] = [(file, parse(text, file)) for text, file in files]
    named = next(((one.package, one.version) for _, one in parsed if one.package is not None), None)
    if named is None:
        if not parsed:
            return []
        raise WitError(parsed[0][0], 1, "no package", "`package`")
    return [_Named(interface, file, named[0], named[1]) for file, one in parsed for interface in one.interfaces]


def _resolve(packages: Iterable[list[_Named]]) -> dict[str, Interface]:
    everything = {f"{each.package}/{each.interface.name}{each.version}": each for package in packages for each in package}
    resolver = _Resolver(everything)
    return {name: resolver.interface(name) for name in everything}


class _Resolver:
    def __init__(self, everything: Mapping[str, _Named]) -> None:
        self._everything = everything
        self._known: dict[tuple[str, str], Type] = {}
        self._open: set[tuple[str, str]] = set()

    def interface(self, name: str) -> Interface:
        parsed = self._everything[name].interface
        functions = {each: function(lambda used: self._type(name, used)) for each, function in parsed.functions.items()}
        return Interface(name, functions, {each: self._type(name, each) for each in (*parsed.types, *parsed.uses)})

    def _type(self, interface: str, name: str) -> Type:
        key = (interface, name)
        if key not in self._known:
            if key in self._open:
                raise self._error(interface, f"`{name}`, which is made of itself", "a type that ends")
            self._open.add(key)
            self._known[key] = self._look_up(interface, name)
        return self._known[key]

    def _look_up(self, interface: str, name: str) -> Type:
        here = self._everything[interface]
        if name in here.interface.types:
            return here.interface.types[name](lambda used: self._type(interface, used))
        if name not in here.interface.uses:
            raise self._error(interface, f"`{name}`", "the name of a type")
        use = here.interface.uses[name]
        source = use.interface if ":" in use.interface else f"{here.package}/{use.interface}{here.version}"
        if source not in self._everything:
            raise self._error(interface, f"`{use.interface}`", "the name of an interface that is here")
        return self._type(source, use.name)

    def _error(self, interface: str, found: str, expected: str) -> WitError:
        return WitError(self._everything[interface].file, 1, f"{found} in {self._everything[interface].interface.name}", expected)
