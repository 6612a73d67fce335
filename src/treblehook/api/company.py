"""Who a program's session deals with: a witness of what happens, the program's hooks, and its answer to permission prompts."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from treblehook.agent.listener import Listener
from treblehook.agent.permissions import Always, Approver, Never
from treblehook.agent.records import Record
from treblehook.agent.steps import TurnEnd
from treblehook.contracts.python import Hooks
from treblehook.contracts.python.functions import asking
from treblehook.contracts.vera.turn_functions import TurnFunctions
from treblehook.engine import Call, Ended, Mode, Registry
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall

Approve = Literal["never", "always"] | Callable[[ToolCall], bool | Awaitable[bool]]
"""The answer to a prompt that rules and `PermissionRequest` hooks leave open; a function gets the call as it would run."""


class Witness(Listener):
    """What a session came to: its records until they are taken, why `prepare_turn` failed, and how it `end`s if nothing follows."""

    def __init__(self, functions: TurnFunctions) -> None:
        self.end = TurnEnd("finished")
        self._functions = functions
        self._records: list[Record] = []
        self._unprepared: dict[str, str] = {}

    def record(self, record: Record) -> None:
        """Keep it."""
        self._records.append(record)

    def answered(self, session: str, call: Call) -> None:
        """See whether a turn could not be prepared."""
        obeyed = call.handler.mode is Mode.ON and call.ended not in (Ended.ANSWERED, Ended.PASSED)
        if obeyed and self._functions.prepares(call.handler):
            self._unprepared[session] = call.error or ""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """See what comes out of the session where it gives no answer."""
        try:
            yield
        except asyncio.CancelledError:
            self.end = TurnEnd("interrupted", reason="the program stopped waiting")
            raise
        except Exception as error:
            self.end = TurnEnd("failed", reason=f"{type(error).__name__}: {error}")
            raise

    def take(self) -> tuple[Record, ...]:
        """The records since the last time."""
        taken = tuple(self._records)
        self._records.clear()
        return taken

    def take_unprepared(self, session: str) -> str | None:
        """Why `prepare_turn` failed in `session`, or None."""
        return self._unprepared.pop(session, None)


class ProgramsOwn:
    """The hooks of a program, then its two turn functions."""

    def __init__(self, hooks: Hooks | None, functions: TurnFunctions) -> None:
        self._hooks = hooks
        self._functions = functions

    def bind(self, registry: Registry, *, modes: Mapping[str, Mode]) -> None:
        """Bind them to one session."""
        if self._hooks is not None:
            self._hooks.bind(registry, modes=modes)
        self._functions.bind(registry, modes=modes)


class Asked:
    """Asks the program's own function. Once it has raised, every call is denied, and `error` is what it raised."""

    def __init__(self, function: Callable[[ToolCall], bool | Awaitable[bool]]) -> None:
        self._ask: Callable[[ToolCall], Awaitable[object]] = asking(function, in_thread=True)
        self.error: Exception | None = None

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """What the function says."""
        if self.error is not None:
            return False
        try:
            answer = await self._ask(call)
            if not isinstance(answer, bool):
                raise TypeError(f"approve returned {answer!r} for {call.name}; it must return True or False")
        except Exception as error:
            # Raised where the program waits, once the turn has answered its open calls.
            self.error = error
            return False
        return answer


def approver(approve: Approve) -> Approver:
    """Who answers. Raises ValueError for another word."""
    if callable(approve):
        return Asked(approve)
    if approve not in ("never", "always"):
        raise ValueError(f"approve is {approve!r}; allowed: 'never', 'always', or a function of the call that returns True or False")
    return Always() if approve == "always" else Never()
