"""`cru.log(level, message)`: one line in the log, tagged with whose code it was (crucible.md 10.2).

It takes anything and never raises: in `pre_tool_call` an error would deny the call. An unknown level is `info`; so is the only argument.
"""

from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.log import Level

_LEVELS: dict[object, Level] = {"debug": "debug", "info": "info", "warn": "warn", "error": "error"}


def install(library: Library) -> None:
    library.provide_lua("cru.log", "log", lambda level, text: _write(library, level, text), lambda: library.loaded("text_of"))


def _write(library: Library, level: object, text: str | bytes) -> None:
    caller = library.caller
    file, line = library.lua.caller()
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    library.vm.log(_LEVELS.get(level, "info"), caller.owner or caller.hook, shown, file, line or None)
