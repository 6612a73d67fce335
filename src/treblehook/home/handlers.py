"""Which handlers a session of a home has: its own, laid over those that all sessions of the home share."""

from treblehook.contracts.vera.bind import bind
from treblehook.contracts.vera.config import VeraConfig
from treblehook.engine import Registry
from treblehook.home.claude_settings import SessionSettings
from treblehook.home.home import Home


async def session_registry(
    home: Home,
    config: VeraConfig | None = None,
    *,
    spawned: bool,
    awaited: bool = False,
    gates_only: bool = False,
    claude: SessionSettings | None = None,
) -> Registry:
    """The handlers of a session; `spawned` where another agent starts it, `awaited` too where that agent waits for it.

    `config` is that of the session that starts it, since a subagent runs the same hooks; None takes the home's as it is now.
    `claude` has the hooks of Claude Code's settings, where they count.
    Raises `ConfigInvalid` where an entry is over its limits: a hook that was left out would fail open.
    """
    registry = Registry(home.registry, gates_only=gates_only)
    if gates_only:
        # None of them is a gate, and limits are checked where a session starts its hooks: this one starts none.
        return registry
    config = home.vera() if config is None else config
    runtime, observers, modes = home.hook_processes, home.observer_processes, home.settings.modes
    executables = bind(config, runtime=runtime, observers=observers, spawned=spawned, awaited=awaited, modes=modes)
    extensions = await home.extensions()
    functions = extensions.handlers(runtime=runtime, observers=observers, spawned=spawned, awaited=awaited, modes=modes)
    settings = [] if claude is None else home.claude.handlers(claude, spawned=spawned)
    for handler in (*executables, *functions, *settings):
        registry.add(handler)
    return registry
