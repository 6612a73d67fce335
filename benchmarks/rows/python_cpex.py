"""One event through ten Python handlers, beside CPEX calling ten plugins at the same point."""

import logging
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from benchmarks.row import Limit, Line, Missing
from benchmarks.rows._handlers import COUNT, EVENT, dispatcher, firing, functions, handler
from benchmarks.timing import fastest
from treblehook.lifecycle import PreToolCall

LIMIT = Limit(at_least=40)

PLUGIN = """
from cpex.framework import Plugin, PluginContext, ToolPreInvokePayload, ToolPreInvokeResult


class Passes(Plugin):
    async def tool_pre_invoke(self, payload: ToolPreInvokePayload, context: PluginContext) -> ToolPreInvokeResult:
        return ToolPreInvokeResult()
"""
ENTRY = """
  - name: passes{number}
    kind: bench_plugin.Passes
    hooks: [tool_pre_invoke]
    mode: sequential
    priority: {number}
"""


async def measure() -> list[Line]:
    try:
        cpex = import_module("cpex.framework")
    except ImportError:
        raise Missing("cpex is not installed, see the extra `bench`") from None
    logging.disable(logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bench_plugin.py").write_text(PLUGIN)
        config = Path(folder) / "plugins.yaml"
        config.write_text("plugins:" + "".join(ENTRY.format(number=number) for number in range(COUNT)))
        manager = cpex.PluginManager(str(config))
        sys.path.insert(0, folder)
        await manager.initialize()
        sys.path.remove(folder)
    assert manager.plugin_count == COUNT
    payload = cpex.ToolPreInvokePayload(name="bash", args={"command": "ls"})
    context = cpex.GlobalContext(request_id="r1")

    async def peer(times: int) -> None:
        for _ in range(times):
            await manager.invoke_hook(cpex.ToolHookType.TOOL_PRE_INVOKE, payload, context)

    ours = firing(dispatcher(*(handler(PreToolCall, function) for function in functions()), journal=True), EVENT)
    best = await fastest({"ours": ours, "peer": peer})
    await manager.shutdown()
    return [Line("ten Python handlers, journal on", f"CPEX {version('cpex')}", best["ours"], best["peer"], LIMIT)]
