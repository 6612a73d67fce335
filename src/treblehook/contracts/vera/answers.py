"""What a hook of the vera protocol answers: its exit status and its stdout become a decision (vera.md 3.1 to 3.8, 6)."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from treblehook.contracts.vera import checks
from treblehook.contracts.vera.exits import failed_exit
from treblehook.contracts.vera.json_text import NotJson, named, parsed, trimmed
from treblehook.engine import HookFailed
from treblehook.lifecycle import AddContext, Block, Continue, Decision, Replace, Rewrite
from treblehook.runtimes.process import Finished

Answer = dict[str, Any]
Decide = Callable[[Finished], Decision | None]


def decider(phase: str) -> Decide:
    """How a finished hook of `phase` is read; raises HookFailed for every answer that the phase does not know.

    Of an observer only the exit status counts.
    """
    powers = POWERS.get(phase)

    def decide(finished: Finished) -> Decision | None:
        if finished.status != 0:
            raise failed_exit(finished.status)
        return None if powers is None else read(trimmed(finished.stdout), powers)

    return decide


def read(text: str, powers: "dict[str, Power]") -> Decision | None:
    """The decision in `text`, which is trimmed; raises HookFailed."""
    if not text:
        raise HookFailed('printed nothing; a hook with nothing to say prints {"power":"observe"}')
    try:
        answer = parsed(text)
    except NotJson as error:
        raise HookFailed(f"did not print one JSON value: {error}") from error
    if not isinstance(answer, dict):
        raise HookFailed(f"printed {named(answer)}; it must be an object")
    return decided(answer, powers)


def decided(answer: Answer, powers: "dict[str, Power]") -> Decision | None:
    """The decision in an answer that is an object; raises HookFailed."""
    power = checks.text(answer, "power")
    if power not in powers:
        raise HookFailed(f"its power is {named(power)}; allowed here: {', '.join(powers)}")
    return powers[power](answer)


def _observe(answer: Answer) -> None:
    return None


def _block(answer: Answer) -> Block:
    return Block(checks.text(answer, "reason"))


def _new_input(answer: Answer) -> Rewrite:
    return Rewrite(input=checks.mapping(answer, "input"))


def _replace(answer: Answer) -> Replace:
    result = checks.mapping(answer, "result")
    return Replace(checks.text_blocks(result, "content"), checks.flag(result, "isError"))


def _patch(answer: Answer) -> Rewrite:
    patch = checks.mapping(answer, "patch")
    return Rewrite(
        content=checks.text_blocks(patch, "content") if "content" in patch else UNSET,
        is_error=checks.flag(patch, "isError") if "isError" in patch else UNSET,
    )


def _context(answer: Answer) -> AddContext:
    return AddContext(checks.context(answer, "context"))


def _turn(answer: Answer) -> Rewrite | AddContext:
    display = checks.display(answer)
    text = checks.context(answer, "context") if "context" in answer else ""
    context = AddContext(text, display) if text else None
    change = Rewrite(
        tools=checks.names(answer, "tools") if "tools" in answer else UNSET,
        model=checks.text(answer, "model") if "model" in answer else UNSET,
        effort=checks.text(answer, "reasoningEffort") if "reasoningEffort" in answer else UNSET,
        context=context,
    )
    return context if context is not None and not change.fields() else change


def _continue(answer: Answer) -> Continue:
    checks.text(answer, "context")
    return Continue(checks.context(answer, "context"), checks.display(answer))


Power = Callable[[Answer], Decision | None]
POWERS: Final[dict[str, dict[str, Power]]] = {
    "session_start": {"observe": _observe, "mutate": _context},
    "pre_turn": {"observe": _observe, "mutate": _turn, "block": _block},
    "pre_tool_use": {"observe": _observe, "mutate": _new_input, "block": _block, "replace": _replace},
    "post_tool_use": {"observe": _observe, "mutate": _patch},
    "turn_ending": {"observe": _observe, "continue": _continue},
}
"""By phase, what its hooks may answer; observers have none."""
