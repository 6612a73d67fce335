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
    installed: set[str] = set()

    def install_module(name: object) -> None:
        if isinstance(name, str) and name in MODULES and name not in installed:
            installed.add(name)
            MODULES[name](library)

    library.provide_lua("cru", "lazy", install_module, lambda: list(MODULES))
    return library
