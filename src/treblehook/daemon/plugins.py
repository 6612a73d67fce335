"""`POST /api/plugins/{name}/reload`."""

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from treblehook.daemon.http.answers import answer, refused
from treblehook.daemon.http.operation import Answered, Operation
from treblehook.home.home import Home


class Reloaded(Struct, frozen=True):
    """The plugin has been loaded again."""

    plugin: str


def plugin_operation(home: Home) -> Operation:
    """The route."""

    async def reload(request: Request) -> Response:
        name = str(request.path_params["name"])
        await _reload(home, name)
        return answer(Reloaded(name))

    return Operation(
        "POST",
        "/api/plugins/{name}/reload",
        "reloadPlugin",
        "Load a plugin again",
        {200: Answered("Its files are loaded as they are now", Reloaded)},
        "Its handlers, lifecycle hooks and schedules are taken out first; one that does not load again has none.",
        handle=reload,
        errors=(404, 409, 500),
    )


async def _reload(home: Home, name: str) -> None:
    """Raises `ApiError`: 404 for a plugin that there is not, 409 for one that is switched off, 500 with the cause for a broken one."""
    plugins = home.lua.plugins
    if plugins is None:
        raise refused(404, "plugin_unknown", f"there is no plugin {name!r}: this home has none")
    # A home without Lua has no library for it either.
    from treblehook.contracts.crucible.plugins.plugins import PluginDisabled, PluginUnknown
    from treblehook.home.lua.plugins import PluginBroken

    try:
        await plugins.reload(name)
    except PluginUnknown as error:
        raise refused(404, "plugin_unknown", str(error)) from error
    except PluginDisabled as error:
        raise refused(409, "plugin_disabled", str(error)) from error
    except PluginBroken as error:
        raise refused(500, "plugin_broken", str(error)) from error
