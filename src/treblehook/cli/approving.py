"""Who answers the permission prompts of a session in the foreground."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

from treblehook.agent.permissions import Always, Approver, Never, TerminalApprover, plain_question
from treblehook.cli.options import Approve
from treblehook.cli.output.safe_text import one_line
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


def approver(approve: Approve, asking: Approver) -> Approver:
    """The approver that `--approve` names."""
    return {"ask": asking, "always": Always(), "never": Never()}[approve]


class Asking:
    """Asks at the terminal, inside the context that `paused` gives; `interrupt` is called for an answer by Esc."""

    def __init__(self, paused: Callable[[], AbstractContextManager[None]], interrupt: Callable[[], object]) -> None:
        def escaped() -> None:
            interrupt()

        self._paused = paused
        self._terminal = TerminalApprover(interrupt=escaped)
        self._turn = asyncio.Lock()

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Ask the user."""
        async with self._turn:
            with self._paused():
                return await self._terminal.approve(call, spec, reason)


class NobodyToAsk:
    """Denies, and says that nobody could be asked."""

    def __init__(self, problem: Callable[[str], None]) -> None:
        self._problem = problem

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """No."""
        asked = one_line(plain_question(call, spec))
        remedy = f"--approve always allows it. {one_line(reason)}" if reason else "--approve always, or a rule in config.toml, allows it"
        self._problem(f"{asked}: denied, since there is no terminal to ask at ({remedy})")
        return False
