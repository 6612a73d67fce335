"""An agent's tool names and inputs under ours, and rewritten inputs back under its own (design, section 3)."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from treblehook.gateway.codec import PayloadInvalid

_OF_SHELL: Final = frozenset({"timeout_ms", "workdir"})
"""Our keys beside the command. An agent that has none for one of them would run the command without a word of that."""


class ToolName(Struct, frozen=True):
    """A tool of an agent: `ours` is our name of it, `keys` our key for each of its keys that we call differently."""

    ours: str
    keys: Mapping[str, str] = {}


def unknown_to_shell(rewritten: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """The time and the folder that hooks have given to a command, where the agent's shell has only the keys `known`."""
    return _OF_SHELL.intersection(rewritten).difference(known)


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

    def theirs(self, tool: str, rewritten: Mapping[str, Any], given: Collection[str]) -> dict[str, Any]:
        """An input of ours under the agent's own keys. `given` are those of the call: each of them comes back as it was spelled there.
        Raises `PayloadInvalid` where two keys would become one, of which the agent would take either, or its shell does not have one."""
        known = self._names.get(tool)
        keys = {} if known is None else known.keys
        if known is not None and known.ours == "bash":
            for key in unknown_to_shell(rewritten, (*keys.values(), *(keys.get(key, key) for key in given))):
                raise PayloadInvalid(f"the rewritten input, {key}", "a key that this agent's shell does not have", "the others")
        back = {ours: theirs for theirs, ours in keys.items()} | {keys.get(key, key): key for key in given}
        found: dict[str, Any] = {}
        for key, value in rewritten.items():
            name = back.get(key, key)
            if name in found:
                raise PayloadInvalid(f"the rewritten input, {key}", f"a second value for {name}", "one")
            found[name] = value
        return found
