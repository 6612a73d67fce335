"""Running the user's and the workspace's file: what fails is told, and must not stop anything else (crucible.md 2.9)."""

from pathlib import Path

from treblehook.contracts.crucible.plugins.calling import Calling
from treblehook.contracts.crucible.plugins.modules import Modules
from treblehook.contracts.crucible.plugins.source import SourceUnreadable, read_source
from treblehook.contracts.crucible.vm import LOAD_SECONDS, CrucibleVM
from treblehook.host.problems import Problem
from treblehook.runtimes.lua import LuaFailed


def evaluate(vm: CrucibleVM, modules: Modules, name: str, file: Path, source: bytes | None) -> Problem | None:
    """Run `file`, or the `source` that was read from it before; what it had registered when it failed stays. What is wrong, which has been
    told."""
    try:
        content = read_source(file) if source is None else source
        with vm.owned_by(None, name) as caller:
            Calling(vm.lua).now(modules.load(name, content, file), about=caller, cpu_seconds=LOAD_SECONDS)
    except LuaFailed as failed:
        why, where, line = f"did not load: {failed.message}", failed.file or str(file), failed.line or None
    except SourceUnreadable as unreadable:
        why, where, line = f"did not load: {unreadable.why}", str(file), None
    else:
        return None
    vm.log("error", name, why, where, line)
    return Problem(where, "" if line is None else f"line {line}", f"{name}: {why}")
