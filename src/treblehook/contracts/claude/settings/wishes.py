"""What hooks before a tool say of the permission to run it (`allow`, `ask`), kept until the rules are asked: alone it decides nothing."""

from typing import Any, Literal

from msgspec import Struct

from treblehook.host.permission import Permission, Verdict
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall, ToolProposed


class CallWish(Struct, frozen=True):
    """`ask`: the user is to be asked, for a `reason`. `allow`: nobody needs to be asked about this very `input`, which is in our words."""

    kind: Literal["allow", "ask"]
    input: dict[str, Any]
    reason: str = ""


class CallWishes:
    """Those about the calls of one session, by the id of the call."""

    def __init__(self) -> None:
        self._wishes: dict[str, CallWish] = {}

    def forget(self, event: ToolProposed) -> None:
        """A call is proposed: what was said of an earlier one of that id is not about it."""
        self._wishes.pop(event.call.id, None)

    def keep(self, call: str, wish: CallWish) -> None:
        """Keep a wish for a call."""
        self._wishes[call] = wish

    def of(self, call: ToolCall) -> CallWish | None:
        """The wish about a call; an `allow` only while its input is what was allowed."""
        wish = self._wishes.get(call.id)
        return None if wish is None or (wish.kind == "allow" and wish.input != call.input) else wish

    def take(self, call: ToolCall) -> CallWish | None:
        """The same, once: the rules are asked about a call one time."""
        wish = self.of(call)
        self._wishes.pop(call.id, None)
        return wish


class WishedPermission:
    """A `host.permission.Permission`: the rules of `inner` with the wishes of hooks beside them, as in Claude Code (HONOURED.md 3).

    A denial stands whatever a hook allows, and so does a question that a rule of the user's or protection wants asked. Only the question
    that a tool asks by itself is spared.
    """

    def __init__(self, inner: Permission, wishes: CallWishes) -> None:
        self._inner = inner
        self._wishes = wishes

    def verdict(self, call: ToolCall, spec: ToolSpec) -> Verdict:
        """What rules and hooks say together."""
        found, wish = self._inner.verdict(call, spec), self._wishes.take(call)
        if wish is None or found.kind == "deny" or found.reason:
            return found
        if wish.kind == "ask":
            return Verdict("ask", found.rule, f"A hook wants the user asked: {wish.reason}")
        return Verdict("allow") if found.rule is None else found

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Ask whoever the rules ask."""
        return await self._inner.approve(call, spec, reason)
