"""JavaScript modules are run here, each in a worker thread of one Node process; what their functions mean is decided elsewhere.

Read `runtime.py` first: the process, its workers, and what happens when one of them ends. `host.cjs` is the main thread of that
process, `worker.cjs` what every worker runs; `channel.py` carries the JSON lines between them and us.
"""

from treblehook.runtimes.modules import CallFailed, ModuleEnded, NotRunning, RequestFailed
from treblehook.runtimes.node.errors import NodeError, NodeUnavailable
from treblehook.runtimes.node.module import Module, ModuleSpec
from treblehook.runtimes.node.runtime import NodeRuntime, Owner
from treblehook.runtimes.node.values import Patience

__all__ = [
    "CallFailed",
    "Module",
    "ModuleEnded",
    "ModuleSpec",
    "NodeError",
    "NodeRuntime",
    "NodeUnavailable",
    "NotRunning",
    "Owner",
    "Patience",
    "RequestFailed",
]
