"""One executable as the engine asks it: event to payload, payload to process, what the process left to a decision (vera.md 6)."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from treblehook.contracts.vera.json_text import NotJson, encoded
from treblehook.engine import Answer, HookFailed, HookNotStarted, HookTimedOut
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Decision
from treblehook.runtimes.process import Finished, Limits, NotStarted, ProcessError, ProcessRuntime, TimedOut, TooMuchOutput


class Command(Struct, frozen=True):
    """How one executable is run and spoken to: `argv` with an absolute first word, `seconds` from its spawn on."""

    argv: tuple[str, ...]
    seconds: float
    stdout_bytes: int
    payload: Callable[[Any], dict[str, Any]]
    decide: Callable[[Finished], Decision | None]


def asking(command: Command, runtime: ProcessRuntime) -> Ask:
    """The function that asks `command` about an event. Raises HookNotStarted, HookTimedOut and HookFailed.

    Working directory and environment are those of this process, whatever the session's workspace.
    """
    limits = Limits(stdout_bytes=command.stdout_bytes)

    async def ask(event: Any) -> Answer:
        try:
            stdin = encoded(command.payload(event))
        except NotJson as error:
            raise HookNotStarted(f"was not started: the event cannot be written as JSON: {error}") from error
        finished = await _run(command, stdin, limits, runtime)
        try:
            return Answer(command.decide(finished), raw=finished.stdout.decode("utf-8", "replace"))
        except HookFailed as problem:
            raise HookFailed(problem.message, raw=_words(finished)) from problem

    return ask


async def _run(command: Command, stdin: bytes, limits: Limits, runtime: ProcessRuntime) -> Finished:
    try:
        # The runtime keeps the time, not the engine: a hook's clock starts at its spawn, not while it waits for a place.
        return await runtime.run(command.argv, stdin, limits=limits, timeout_seconds=command.seconds)
    except NotStarted as error:
        raise HookNotStarted(f"was not started: {error.why}") from error
    except TimedOut as error:
        raise HookTimedOut(error.seconds) from error
    except TooMuchOutput as error:
        raise HookFailed(f"printed more than {error.limit} bytes") from error
    except ProcessError as error:
        raise HookFailed(str(error)) from error


def _words(finished: Finished) -> str:
    """All that a failed hook said: for the person who looks into the failure, never for the model."""
    return "\n".join(part.decode("utf-8", "replace") for part in (finished.stdout, finished.stderr) if part)
