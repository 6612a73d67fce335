"""Whether a tool call may run is decided here, by the user's rules and whoever answers the prompt that is left; running it may not be.

`rules.py` is the verdict, `commands.py` reads commands, `paths.py` paths, `approval.py` and `terminal.py` answer. Rules are no sandbox.
"""

from treblehook.agent.permissions.approval import Always, Approver, Never
from treblehook.agent.permissions.rules import Rules
from treblehook.agent.permissions.session import Permissions
from treblehook.agent.permissions.terminal import TerminalApprover, open_terminal, plain_question

__all__ = [
    "Always",
    "Approver",
    "Never",
    "Permissions",
    "Rules",
    "TerminalApprover",
    "open_terminal",
    "plain_question",
]
