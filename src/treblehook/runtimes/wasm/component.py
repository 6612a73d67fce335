"""A component that was loaded, and the questions that can be asked of it before anything of it runs."""

from collections.abc import Iterable, Sequence

from treblehook.runtimes.wasm.binding.engine import Code
from treblehook.runtimes.wasm.binding.inspect import Surface
from treblehook.runtimes.wasm.difference import difference
from treblehook.runtimes.wasm.errors import ImportNotGranted, NotExported, WrongImport, WrongType
from treblehook.runtimes.wasm.grants import Grants, HostInterface
from treblehook.runtimes.wasm.types import FunctionType

_WASI_VERSION = "0.2."


class Component:
    """Compiled code; any number of instances may be made of it. `digest` is the SHA-256 of its source, `from_cache` whether it was
    compiled before."""

    def __init__(self, code: Code, surface: Surface, digest: str, *, from_cache: bool) -> None:
        self.code = code
        self.digest = digest
        self.from_cache = from_cache
        self._surface = surface
        self._fits: dict[str, FunctionType] = {}

    @property
    def imports(self) -> tuple[str, ...]:
        """Every interface that it imports, as `namespace:package/interface@version`."""
        return self._surface.imports

    @property
    def exports(self) -> tuple[str, ...]:
        """Every function that it exports, as `INTERFACE#FUNCTION`, or only its name where it is in no interface."""
        return self._surface.exports

    def check_export(self, name: str, expected: FunctionType) -> None:
        """Raises `NotExported`, which tells of another version of the interface, and `WrongType` where `name` is of another type."""
        if self._fits.get(name) is expected:
            return
        try:
            found = self._surface.export_type(name)
        except KeyError:
            raise NotExported(name, _other_versions(name, self.exports)) from None
        if different := difference(expected, found):
            raise WrongType(name, different.where, different.what)
        self._fits[name] = expected

    def check_imports(self, grants: Grants) -> None:
        """Raises `ImportNotGranted` for what is not granted, and `WrongImport` for what is under another type."""
        granted = {interface.name: interface for interface in grants.interfaces}
        for name in self.imports:
            if name in granted:
                self._check_interface(granted[name])
            elif name.startswith("wasi:"):
                group, version = name.removeprefix("wasi:").partition("/")[0], name.partition("@")[2]
                if group not in grants.wasi.groups or not version.startswith(_WASI_VERSION):
                    raise ImportNotGranted(name)
            elif self._needs_functions(name):
                raise ImportNotGranted(name, _other_versions(name, granted))

    def stubs(self, interface: HostInterface) -> Sequence[str]:
        """The functions that are imported from a granted interface and were not given."""
        return [name for name in self._surface.imported_functions(interface.name) if name not in interface.functions]

    def _check_interface(self, interface: HostInterface) -> None:
        for function in self._surface.imported_functions(interface.name):
            name = f"{interface.name}#{function}"
            host = interface.functions.get(function)
            if host is not None:
                if different := difference(host.type, self._surface.import_type(interface.name, function)):
                    raise WrongImport(name, different.where, different.what)
            elif not interface.stubbed:
                raise ImportNotGranted(name)

    def _needs_functions(self, name: str) -> bool:
        """An interface of which only types are wanted needs nobody's grant; what is no interface does."""
        return bool(self._surface.imported_functions(name)) or "/" not in name


def _other_versions(name: str, names: Iterable[str]) -> Sequence[str]:
    """The interfaces among `names` that are the one of `name` but for the version."""
    interface = name.partition("#")[0]
    if "/" not in interface:
        return ()
    others = dict.fromkeys(each.partition("#")[0] for each in names)
    return [other for other in others if other != interface and other.partition("@")[0] == interface.partition("@")[0]]
