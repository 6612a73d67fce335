"""`vera.sessions.ask`: what an extension may ask, and what it gets (vera.md 5.7)."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from treblehook.contracts.vera.json_text import encoded
from treblehook.host.asking import AskRefused, AskSession

QUESTION_BYTES: Final = 262_144


class _Request(Struct, rename="camel"):
    session_id: Annotated[str, Meta(min_length=1)]
    question: str
    max_tokens: Annotated[int, Meta(ge=1)] = 0


async def answered(request: bytes, ask: AskSession) -> bytes:
    """Put the question of `request`, the JSON of what `ask` was called with; answers the JSON of its result. Raises `AskRefused`."""
    wanted = _request(request)
    answer = await ask(wanted.session_id, wanted.question, wanted.max_tokens)
    return encoded({"text": answer.text, "model": answer.model, "provider": answer.provider})


def _request(request: bytes) -> _Request:
    try:
        wanted = msgspec.json.decode(request, type=_Request)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        allowed = "sessionId and question are texts, maxTokens is a positive whole number or absent"
        raise AskRefused(f"sessions.ask: {error}; {allowed}") from error
    size = len(wanted.question.encode("utf-8", "replace"))
    if not wanted.question.strip():
        raise AskRefused("sessions.ask: the question is blank")
    if size > QUESTION_BYTES:
        raise AskRefused(f"sessions.ask: the question has {size} bytes; {QUESTION_BYTES} are allowed")
    return wanted
