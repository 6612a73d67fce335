"""What hooks read of the values that tools of an SDK return, and what stands in the place of a text that is not to be seen."""

from typing import Any, Final

import msgspec

BLOCKED_PROMPT: Final = "[A hook blocked this prompt.]"
"""Stands in a conversation where a blocked prompt was, so that no later request brings it to the model."""

NO_REASON: Final = "A hook refused this."
"""Said where a hook gives no reason: some SDKs take a blank one for none, and go on."""

GO_ON: Final = "A hook wants you to go on."
"""Said where a hook sends the model back without a word."""


def text_of(value: Any) -> str:
    """A text as it is, anything else as JSON, and what is no JSON as Python writes it."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    except (TypeError, ValueError, NotImplementedError, OverflowError, RecursionError):
        return str(value)


def _plain(value: Any) -> Any:
    """A pydantic model as its fields; raises for what has none."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise NotImplementedError(type(value).__name__)
    return dump(mode="json")
