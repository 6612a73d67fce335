"""Which handlers a session of a home has: its own, laid over those that all sessions of the home share."""

from treblehook.contracts.vera.bind import bind
from treblehook.engine import Registry
from treblehook.home.home import Home


def session_registry(home: Home, *, spawned: bool, awaited: bool = False, gates_only: bool = False) -> Registry:
    """The handlers of a session; `spawned` where another agent starts it, `awaited` too where that agent waits for it.

    Raises `ConfigInvalid` where an entry is over its limits: a hook that was left out would fail open.
    """
    registry = Registry(home.registry, gates_only=gates_only)
    executables = bind(
        home.vera(),
        runtime=home.hook_processes,
        observers=home.observer_processes,
        spawned=spawned,
        awaited=awaited,
        modes=home.settings.modes,
    )
    for handler in executables:
        registry.add(handler)
    return registry
