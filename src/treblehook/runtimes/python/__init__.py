"""Python modules are run here, each in a thread with an event loop of its own; what their functions mean is decided elsewhere.

Read `module.py` first: a module from its start to its end. `private_import.py` loads files under names that nobody else has,
`failure.py` says what went wrong in them, `log.py` keeps what they print. A thread cannot be ended from outside: one that blocks
is left behind, and holds up neither the others nor the end of the process.
"""

from treblehook.runtimes.python.module import Functions, ModuleHost, PythonModule

__all__ = ["Functions", "ModuleHost", "PythonModule"]
