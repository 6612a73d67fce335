"""Who answers the permission prompts of a session in the foreground."""

import asyncio
import os
from collections.abc import Callable

from treblehook.agent.permissions import Always, Approver, Never, TerminalApprover, plain_question
from treblehook.cli.options import Approve
from treblehook.cli.output.output import Output
from treblehook.cli.output.safe_text import one_line
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall


def approver(approve: Approve, output: Output, interrupt: Callable[[], None]) -> Approver:
    """The approver that `--approve` names; `interrupt` is called when the user answers with Esc."""
    if approve == "ask":
        return AskingApprover(output, interrupt)
    return Always() if approve == "always" else Never()


class AskingApprover:
    """Asks at the terminal, on which `output` draws nothing meanwhile. Where nobody would see the question, the answer is no."""

    def __init__(self, output: Output, interrupt: Callable[[], None]) -> None:
        self._output = output
        self._terminal = TerminalApprover(interrupt=interrupt)
        self._turn = asyncio.Lock()

    async def approve(self, call: ToolCall, spec: ToolSpec) -> bool:
        """Ask the user."""
        if not (os.isatty(1) or os.isatty(2)):
            asked = one_line(plain_question(call, spec))
            self._output.problem(f"{asked}: denied, since there is no terminal to ask at (--approve always, or a rule in config.toml)")
            return False
        async with self._turn:
            self._output.pause()
            try:
                return await self._terminal.approve(call, spec)
            finally:
                self._output.resume()
