"""What a function's return value means: the answers of executables, within the limits of functions (vera.md 5.6)."""

from collections.abc import Callable
from typing import Any, Final

from treblehook.contracts.vera.answers import POWERS, decided
from treblehook.contracts.vera.json_text import NotJson, encoded, parsed, shown
from treblehook.engine import HookFailed
from treblehook.lifecycle import Decision

PART_BYTES: Final = 65_536
"""JSON of one part of an answer; context has its own limit."""

_PARTS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("pre_tool_use", "mutate"): ("input",),
    ("pre_tool_use", "block"): ("reason",),
    ("pre_tool_use", "replace"): ("result",),
    ("post_tool_use", "mutate"): ("patch",),
    ("pre_turn", "mutate"): ("tools",),
    ("pre_turn", "block"): ("reason",),
}
"""The parts that are measured, by phase and power."""


def function_decider(phase: str) -> Callable[[str], Decision | None]:
    """How the JSON that a function of `phase` returned is read; raises HookFailed. Of an observer nothing is read."""
    powers = POWERS.get(phase)

    def decide(value: str) -> Decision | None:
        if powers is None:
            return None
        answer = _answer(value)
        for part in _PARTS.get((phase, str(answer.get("power"))), ()):
            _measure(answer, part)
        return decided(answer, powers)

    return decide


def _answer(value: str) -> dict[str, Any]:
    try:
        answer = parsed(value)
    except NotJson as error:
        raise HookFailed(f"did not return JSON: {error}") from error
    if not isinstance(answer, dict):
        raise HookFailed(f"returned {shown(answer)}; it must be an object")
    return answer


def _measure(answer: dict[str, Any], part: str) -> None:
    size = len(encoded(answer[part])) if part in answer else 0
    if size > PART_BYTES:
        raise HookFailed(f"its {part} has {size} bytes as JSON; {PART_BYTES} are allowed")
