"""`prepare_turn` and `before_turn_ends`: the phases `pre_turn` and `turn_ending` for functions of the program itself (vera.md 7.1).

Stricter than the JSON protocol: an unknown key is an error, and a key with the value None counts as not given.
"""

import reprlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from treblehook.contracts.python.functions import asking, name_of, written
from treblehook.contracts.vera import checks
from treblehook.contracts.vera.answers import POWERS, decided
from treblehook.contracts.vera.json_text import NotJson, encoded, parsed
from treblehook.engine import Handler, HookFailed, Mode, OnFailure, Origin, Registry, Tier
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Decision, Event, PromptSubmitted, TurnEnding

Payload = dict[str, Any]
Function = Callable[[Payload], Any]
PrepareTurn = Callable[[Payload], Payload | Awaitable[Payload | None] | None]
BeforeTurnEnds = Callable[[Payload], Payload | Awaitable[Payload | None] | None]

SECONDS: Final = 60.0
"""The time limit of one call; the contract's hooks of one message, and of one final reply, have as long together."""

_KEYS: Final = {
    "pre_turn": ("power", "tools", "model", "reasoning_effort", "context", "display", "reason"),
    "turn_ending": ("power", "context", "display"),
}


class TurnFunctions:
    """The two functions of one program, either of which may be None. Raises TypeError for what is no function."""

    def __init__(self, prepare_turn: PrepareTurn | None = None, before_turn_ends: BeforeTurnEnds | None = None) -> None:
        self._prepare = _checked("prepare_turn", prepare_turn)
        self._ends = _checked("before_turn_ends", before_turn_ends)
        self._preparing = _origin("pre_turn", self._prepare)

    def bind(self, registry: Registry, *, modes: Mapping[str, Mode] | None = None) -> None:
        """Bind them to a session: `prepare_turn` fails closed, `before_turn_ends` open. `modes` is by the function's name."""
        handlers = []
        if self._prepare is not None:
            handlers.append(_handler(PromptSubmitted, self._prepare, self._preparing, _submitted, OnFailure.CLOSED))
        if self._ends is not None:
            handlers.append(_handler(TurnEnding, self._ends, _origin("turn_ending", self._ends), _ending, OnFailure.OPEN))
        for handler in handlers:
            handler.mode = (modes or {}).get(handler.name, Mode.ON)
            registry.add(handler)

    def prepares(self, handler: Handler) -> bool:
        """Whether `handler` is `prepare_turn`, in whichever session."""
        return handler.origin is self._preparing


def _checked(what: str, function: Function | None) -> Function | None:
    if function is not None and not callable(function):
        raise TypeError(f"{what} is {function!r}; it must be a function or None")
    return function


def _origin(phase: str, function: Function | None) -> Origin:
    code = None if function is None else getattr(written(function), "__code__", None)
    return Origin("vera", phase) if code is None else Origin("vera", phase, code.co_filename, code.co_firstlineno)


def _handler(event: type[Event], function: Function, origin: Origin, payload: Callable[[Any], Payload], on_failure: OnFailure) -> Handler:
    return Handler(
        event,
        _asking(function, origin.event, payload),
        name=name_of(function),
        origin=origin,
        tier=Tier.PYTHON,
        timeout=SECONDS,
        on_failure=on_failure,
    )


def _asking(function: Function, phase: str, payload: Callable[[Any], Payload]) -> Ask:
    call = asking(function, in_thread=True)

    async def ask(event: Any) -> Decision | None:
        try:
            answer: Any = await call(payload(event))
        except SystemExit as error:
            raise HookFailed(f"it called sys.exit({error.code!r})") from error
        return None if answer is None else decided(_answer(answer, phase), POWERS[phase])

    return ask


def _answer(returned: Any, phase: str) -> Payload:
    """What a function returned, as the JSON protocol would have it; raises HookFailed."""
    if not isinstance(returned, dict):
        raise HookFailed(f"returned {reprlib.repr(returned)}; it must be a dict or None")
    given = {key: value for key, value in returned.items() if value is not None}
    if unknown := [key for key in given if key not in _KEYS[phase]]:
        raise HookFailed(f"returned the unknown key {unknown[0]!r}; allowed: {', '.join(_KEYS[phase])}")
    try:
        answer: Payload = parsed(encoded(given).decode())
    except NotJson as error:
        raise HookFailed(f"returned what is not JSON: {error}") from error
    if "reasoning_effort" in answer:
        answer["reasoningEffort"] = checks.text(answer, "reasoning_effort")
    return answer


def _submitted(event: PromptSubmitted) -> Payload:
    effort = {"reasoning_effort": event.effort} if event.effort else {}
    return {
        "type": "pre_turn",
        **_session(event),
        "workspace": event.workspace,
        "prompt": event.prompt,
        "model": event.model,
        "tools": list(event.tools),
        **effort,
        "arrived_during_turn": event.joined,
        "spawned": event.spawned,
    }


def _ending(event: TurnEnding) -> Payload:
    return {
        "type": "turn_ending",
        **_session(event),
        "workspace": event.workspace,
        "prompt": event.prompt,
        "reply": event.reply,
        "spawned": event.spawned,
        "continuations": event.continuations,
    }


def _session(event: Event) -> Payload:
    return {"session_id": event.session} if event.session else {}
