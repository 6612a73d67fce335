"""The text of a tool's result, whatever shape an agent gives it."""

from typing import Any

import msgspec


def text_of(result: Any) -> str:
    """The text that a model gets of a result: itself where it is one, that of its parts where it is a content list (MCP), else JSON."""
    if isinstance(result, str):
        return result
    if result is None:
        return ""
    if isinstance(result, list):
        return "\n".join(_part(one) for one in result)
    if isinstance(result, dict) and isinstance(result.get("content"), list):
        return "\n".join(_part(one) for one in result["content"])
    return _part(result)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            return str(part["text"])
        if isinstance(part.get("type"), str):
            # A picture's bytes are no text.
            return f"[{part['type']}]"
    return msgspec.json.encode(part).decode()
