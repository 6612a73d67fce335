"""Calls that an agent gives no ids: what has run is told apart by what was to run, also where hooks had rewritten that."""

import secrets
from collections import deque
from typing import Final

from msgspec.structs import replace

from treblehook.gateway.call_id import PREFIX, is_made_up
from treblehook.lifecycle import ToolCall

_MOST: Final = 64
"""How many may be under way; the end of a call that the agent drops is never told."""


class UnnamedCalls:
    """Those of one session that may run. Of equal ones under way the one that was judged last is taken for the one that is told of: an
    earlier one may be another that the agent has dropped, and otherwise nobody could say."""

    def __init__(self) -> None:
        self._under_way: deque[ToolCall] = deque(maxlen=_MOST)

    def begun(self, call: ToolCall) -> ToolCall:
        """A call that is judged, with an id that no other has."""
        return replace(call, id=f"{PREFIX}{secrets.token_hex(12)}") if is_made_up(call.id) else call

    def runs(self, call: ToolCall) -> None:
        """It may run, and does so as `call` says now."""
        if is_made_up(call.id):
            self._under_way.append(call)

    def met(self, call: ToolCall) -> ToolCall:
        """A call that is told of again, with the id under which it was judged."""
        found = self._find(call)
        return call if found is None else replace(call, id=found.id)

    def ended(self, call: ToolCall) -> ToolCall:
        """The same, for the last time."""
        found = self._find(call)
        if found is None:
            return call
        self._under_way.remove(found)
        return replace(call, id=found.id)

    def _find(self, call: ToolCall) -> ToolCall | None:
        if not is_made_up(call.id):
            return None
        return next((one for one in reversed(self._under_way) if one.name == call.name and one.input == call.input), None)
