"""`murmur:conversation/read`: what was said so far, the newest first, in pages."""

import re
from typing import Any, Final

from treblehook.contracts.murmur.imports.caller import Caller
from treblehook.contracts.murmur.interfaces import CONVERSATION, interface
from treblehook.contracts.murmur.messages import outward
from treblehook.contracts.murmur.services import ConversationRecord, ConversationUnavailable
from treblehook.runtimes.wasm import Err, HostInterface, Ok, host_interface

MOST: Final = 100
"""Messages of a page."""
_CURSOR: Final = re.compile(r"mc_([1-9][0-9]{0,8})")


def conversation_interface(caller: Caller, record: ConversationRecord) -> HostInterface:
    async def read_messages(cursor: str | None, limit: int) -> Ok | Err:
        if not caller.grant.conversation:
            return Err("not-granted")
        try:
            messages = await record.messages()
        except ConversationUnavailable as unavailable:
            return Err(f"unavailable: {unavailable}")
        left = _left(cursor, len(messages))
        if left is None:
            return Err("invalid-cursor")
        after = max(0, left - min(max(limit, 1), MOST))
        page: dict[str, Any] = {
            "messages": outward(messages[after:left][::-1]),
            "next-cursor": f"mc_{after}" if after else None,
            "total": len(messages),
        }
        return Ok(page)

    return host_interface(interface(CONVERSATION), {"read-messages": read_messages}, counts=True)


def _left(cursor: str | None, total: int) -> int | None:
    """How many messages a reader has before it, the oldest ones; None where no such cursor was given out."""
    if cursor is None:
        return total
    match = _CURSOR.fullmatch(cursor)
    left = int(match[1]) if match else 0
    return left if 0 < left < total else None
