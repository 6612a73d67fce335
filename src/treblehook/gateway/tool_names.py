"""An agent's tool names and inputs under ours, and rewritten inputs back under its own (design, section 3)."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from treblehook.gateway.codec import PayloadInvalid


class ToolName(Struct, frozen=True):
    """A tool of an agent: `ours` is our name of it, `keys` our key for each of its keys that we call differently."""

    ours: str
    keys: Mapping[str, str] = {}


class ToolNames:
    """The tools of one agent that are also ours. Every other tool, and every other key, keeps its name."""

    def __init__(self, names: Mapping[str, ToolName]) -> None:
        self._names = names

    def ours(self, tool: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Name and input as our hooks know them. Raises `PayloadInvalid` where two keys would become one: a guard looks at one of them."""
        known = self._names.get(tool)
        if known is None:
            return tool, given
        found: dict[str, Any] = {}
        for key, value in given.items():
            name = known.keys.get(key, key)
            if name in found:
                raise PayloadInvalid(f"tool_input.{key}", f"a second value for {name}", "one")
            found[name] = value
        return known.ours, found

    def theirs(self, tool: str, rewritten: Mapping[str, Any], given: Iterable[str]) -> dict[str, Any]:
        """An input of ours under the agent's own keys. `given` are those of the call: each of them comes back as it was spelled there.
        Raises `PayloadInvalid` where two keys would become one, of which the agent would take either."""
        known = self._names.get(tool)
        keys = {} if known is None else known.keys
        back = {ours: theirs for theirs, ours in keys.items()} | {keys.get(key, key): key for key in given}
        found: dict[str, Any] = {}
        for key, value in rewritten.items():
            name = back.get(key, key)
            if name in found:
                raise PayloadInvalid(f"the rewritten input, {key}", f"a second value for {name}", "one")
            found[name] = value
        return found
