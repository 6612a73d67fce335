"""Turning a command into the `PreparedCall` that is gated, run and observed lives here; running it may not.

`bash/` takes a command line apart, for whoever judges one.
"""

from treblehook.shell.interpreter import prepare_interpreter
from treblehook.shell.prepare import prepare_command
from treblehook.shell.resolve import resolve_executable

__all__ = ["prepare_command", "prepare_interpreter", "resolve_executable"]
