"""The functions of `cru` beside the registrations live here, one file per module; events, and what handlers return, may not.

`install.py` lists the modules. `library.py` is what each of them is given, `arguments.py` the check of what Lua hands over, `lua/` the
parts that are written in Lua, `annotations/cru.lua` the types for editors.
"""

from treblehook.contracts.crucible.library.http_client import HttpClient
from treblehook.contracts.crucible.library.install import install
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.services import Services
from treblehook.contracts.crucible.library.storage_file import StorageFile

__all__ = ["HttpClient", "Library", "Services", "StorageFile", "install"]
