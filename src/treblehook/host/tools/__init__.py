"""The built-in tools live here, one file each; who may call them, and what hooks say about it, is decided elsewhere.

`inputs.py` is how each of them describes and checks its input, `files.py` what the file tools share.
"""

from treblehook.host.tool import AnyTool
from treblehook.host.tools.bash import Bash
from treblehook.host.tools.edit import Edit
from treblehook.host.tools.glob import Glob
from treblehook.host.tools.grep import Grep
from treblehook.host.tools.read import Read
from treblehook.host.tools.write import Write
from treblehook.runtimes.process import ProcessRuntime

__all__ = ["Bash", "Edit", "Glob", "Grep", "Read", "Write", "builtin_tools"]


def builtin_tools(runtime: ProcessRuntime) -> list[AnyTool]:
    """The tools that every session has. `runtime` runs their processes, for up to ten minutes each.

    Hooks want a process runtime of their own, or a long command would keep them waiting for a place.
    """
    return [Bash(runtime), Read(), Write(), Edit(), Glob(), Grep(runtime)]
