"""One hook call of an outside agent, from its bytes to the bytes of its answer. It never fails: what goes wrong is an answer too."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from treblehook.engine import Handler, OnFailure
from treblehook.gateway.agents import codec_of
from treblehook.gateway.asking import asked
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.lines import ANSWER_SECONDS
from treblehook.gateway.sessions import Live, OutsideSessions
from treblehook.gateway.values import Answer, Arrived, Ending, Other
from treblehook.home.home import Home
from treblehook.lifecycle import Fold

PROBE: Final = "TreblehookProbe"
"""The event by which `treblehook doctor` asks whether anybody answers."""


class Gateway:
    """Answers the hook calls of all outside agents of one home. `problem` is told of each call that goes wrong, in one line; an answer
    takes `seconds` at most."""

    def __init__(self, home: Home, problem: Callable[[str], None], *, seconds: float = ANSWER_SECONDS) -> None:
        self._problem = problem
        self._seconds = seconds
        self.sessions = OutsideSessions(home, problem)

    async def answer(self, agent: str, event: str, body: bytes) -> bytes:
        """The answer to one hook call of `agent` at its own `event`. Raises `AgentUnknown`."""
        codec = codec_of(agent)
        if event == PROBE:
            return b"{}"
        try:
            arrived = codec.decode(event, _payload(body))
        except (PayloadInvalid, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as invalid:
            return self._unreadable(codec, event, invalid)
        if isinstance(arrived.what, Other):
            return b"{}"
        return await self._answered(codec, arrived)

    def _unreadable(self, codec: Codec, event: str, invalid: Exception) -> bytes:
        """The stricter answer: a guard that cannot read what is about to run has not allowed it."""
        self._problem(f"error: {codec.name}: {event or 'a hook call'} cannot be read: {invalid}")
        reason = f"Treblehook cannot read this hook call, so no guard has seen it: {invalid}"
        return msgspec.json.encode(codec.refuse(event, reason))

    async def _answered(self, codec: Codec, arrived: Arrived) -> bytes:
        live: Live | None = None
        answer: Answer | None = None
        try:
            async with asyncio.timeout(self._seconds):
                live = await self.sessions.of(codec.name, arrived)
                live.calls += 1
                try:
                    answer = await asked(live, arrived, self.sessions)
                finally:
                    live.calls -= 1
            return msgspec.json.encode(codec.encode(arrived, answer))
        except TimeoutError:
            why = f"the hooks took longer than {self._seconds:g} s"
        except Exception as error:
            # Whatever it is, an agent takes no answer for an allowance.
            why = f"{type(error).__name__}: {error}"
        self._problem(f"error: {codec.name}: {arrived.event} of session {arrived.session} was not judged: {why}".replace("\n", " "))
        if answer is None and live is not None and not _is_guarded(codec, arrived, live):
            return b"{}"
        return msgspec.json.encode(codec.refuse(arrived.event, f"Treblehook could not ask its hooks: {why}"))

    async def close(self) -> None:
        """Tell the end hooks of all sessions."""
        await self.sessions.close()


def _payload(body: bytes) -> dict[str, Any]:
    """Raises `DecodeError` for what is no JSON object in UTF-8."""
    return msgspec.json.decode(body, type=dict[str, Any])


def _is_guarded(codec: Codec, arrived: Arrived, live: Live) -> bool:
    """Whether a handler that must not be lost is bound where this call would have been judged."""
    if isinstance(arrived.what, Ending):
        return False
    events = {event for hooked in codec.hooked if hooked.name == arrived.event for event in hooked.events}
    return any(handler.event in events and is_closed(handler) for handler in live.session.handlers())


def is_closed(handler: Handler) -> bool:
    """Whether no answer of a handler counts as a refusal."""
    return handler.on_failure is OnFailure.CLOSED or handler.event.fold is Fold.GATE
