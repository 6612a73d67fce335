"""The modules of `cru`, by the name under which Lua finds them. Which of them may wait does not depend on the machine, only on the run."""

from collections.abc import Callable, Mapping
from typing import Final

from treblehook.contracts.crucible.library import (
    config,
    context,
    fmt,
    fs,
    helpers,
    http,
    isolation,
    json,
    kiln,
    log,
    notify,
    paths,
    schedule,
    sessions,
    shell,
    storage,
    timer,
    tools,
)
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.services import Services
from treblehook.contracts.crucible.vm import CrucibleVM

MODULES: Final[Mapping[str, Callable[[Library], None]]] = {
    "log": log.install,
    "json": json.install,
    "timer": timer.install,
    "shell": shell.install,
    "http": http.install,
    "fs": fs.install,
    "schedule": schedule.install,
    "storage": storage.install,
    "paths": paths.install,
    "plugin": config.install_plugin,
    "config": config.install_config,
    "kiln": kiln.install_kiln,
    "graph": kiln.install_graph,
    "sessions": sessions.install,
    "tools": tools.install,
    "context": context.install,
    "notify": notify.install,
    "require_isolation": isolation.install,
    "fmt": fmt.install,
    "retry": helpers.install_retry,
    "ratelimit": helpers.install_ratelimit,
    "emitter": helpers.install_emitter,
    "check": helpers.install_check,
}


def install(vm: CrucibleVM, services: Services) -> Library:
    """Make the modules known to a machine; each comes into being when it is first looked at. Close what is returned with the machine."""
    library = Library(vm, services)
    missing = dict(MODULES)

    def install_one(name: object) -> None:
        module = missing.pop(name, None) if isinstance(name, str) else None
        if module is not None:
            module(library)

    def install_all() -> None:
        for name in list(missing):
            install_one(name)

    library.provide_lua("cru", "lazy", install_one, install_all)
    return library
