"""Loading a file, and the files beside it, under names that nobody else has."""

import re
import secrets
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


class PrivateImport:
    """The file `entry` as a package whose modules are the files of its folder: they import each other relatively, as in
    `from . import words`, and nothing else can. `sys.path` stays as it is, and no byte code is written.

    `printing` is what `print` is in all of them.
    """

    def __init__(self, title: str, entry: str, printing: Callable[..., None]) -> None:
        self.name = f"_treblehook_{re.sub(r'[^A-Za-z0-9]', '_', title)}_{secrets.token_hex(4)}"
        self._entry = entry
        self._printing = printing

    def load(self) -> ModuleType:
        """Run the file. Raises whatever it raises."""
        sys.meta_path.insert(0, self)
        loader = _Loader(self.name, self._entry, self._printing)
        spec = spec_from_file_location(self.name, self._entry, loader=loader, submodule_search_locations=[str(Path(self._entry).parent)])
        assert spec is not None, "a loader was given"
        module = sys.modules[self.name] = module_from_spec(spec)
        loader.exec_module(module)
        return module

    def forget(self) -> None:
        """Nothing of it is imported any more; code that runs still goes on. Forgetting twice is fine."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name in [name for name in sys.modules if name == self.name or name.startswith(f"{self.name}.")]:
            sys.modules.pop(name, None)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """What Python's import asks for every module: here only those inside this package are known."""
        if not fullname.startswith(f"{self.name}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path, self._printing)
            spec.cached = None
        return spec


class _Loader(SourceFileLoader):
    """Always reads the source: byte code is as old as its file's time in seconds, and extensions are edited and tried at once."""

    def __init__(self, fullname: str, path: str, printing: Callable[..., None]) -> None:
        super().__init__(fullname, path)
        self._printing = printing

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        names: dict[str, Any] = module.__dict__
        names["print"] = self._printing
        super().exec_module(module)
