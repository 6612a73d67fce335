"""A tool that a plugin brings, as the host runs it."""

from collections.abc import Mapping
from typing import Any, Final

from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.plain import ReturnInvalid, compact_json
from treblehook.contracts.crucible.plugins.spec import DeclaredTool
from treblehook.contracts.crucible.vm import CrucibleVM
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput, ToolSpec
from treblehook.runtimes.lua import LuaFailed

SECONDS: Final = 120.0
"""How long one call may wait."""

_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}


class PluginTool:
    """Calls `run(args, ctx)` of the plugin. `ctx` has `session_id`, `workspace` and `call_id`.

    A string that it returns is the result as it is, anything else is told as JSON; `nil, message` and raising are errors.
    A session keeps the tool that it was opened with, and a reload changes what that does.
    """

    def __init__(self, vm: CrucibleVM, plugin: str, declared: DeclaredTool) -> None:
        self.plugin = plugin
        self._vm = vm
        self._declared = declared
        self._gone = False

    @property
    def spec(self) -> ToolSpec:
        """How it is offered; where the plugin has it no more, how it was."""
        return self._declared.spec

    def declare(self, declared: DeclaredTool) -> None:
        """The plugin has been loaded again, and this is what the tool is now."""
        self._declared, self._gone = declared, False

    def retire(self) -> None:
        """The plugin is gone, or has no tool of this name."""
        self._gone = True

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call it. Raises `ToolInputInvalid` where an argument is missing or of another type than the schema says."""
        if self._gone:
            return ToolOutput(f"plugin {self.plugin} has no tool {self.spec.name} any more", is_error=True)
        _check(arguments, self.spec.parameters)
        told = {"session_id": context.session, "workspace": str(context.workspace), "call_id": context.call}
        about = Caller(session=context.session, owner=self.plugin, event="tool", hook=self.plugin)
        try:
            returned = await self._vm.lua.run(self._declared.run, arguments, told, about=about, seconds=SECONDS)
            return _output(*returned[:2])
        except LuaFailed as failed:
            return ToolOutput(f"{self.spec.name} (plugin {self.plugin}) failed: {failed.message}", is_error=True)
        except ReturnInvalid as invalid:
            return ToolOutput(f"{self.spec.name} (plugin {self.plugin}) {invalid}", is_error=True)


def _output(value: object = None, error: object = None) -> ToolOutput:
    if value is None and error is not None:
        return ToolOutput(_text(error), is_error=True)
    return ToolOutput("" if value is None else _text(value))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return compact_json(value, "result")


def _check(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """What the schema says of the top level; what is below is the plugin's to check."""
    for name in schema.get("required", ()):
        if name not in arguments:
            raise ToolInputInvalid(f"`{name}` is missing.")
    for name, value in arguments.items():
        wanted = schema["properties"].get(name, {}).get("type")
        kind = _TYPES.get(wanted) if isinstance(wanted, str) else None
        if kind is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            raise ToolInputInvalid(f"`{name}` must be of type {wanted}.")
