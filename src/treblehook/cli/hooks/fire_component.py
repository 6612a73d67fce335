"""`hooks fire --component`: one event at one component, without a home."""

from pathlib import Path

from treblehook.cli.output.safe_text import safe
from treblehook.contracts.murmur.authoring.firing import Fired, NotHeard, fire_component
from treblehook.contracts.murmur.errors import StagingFailed
from treblehook.home.dry_run.calls import KnownTools
from treblehook.home.dry_run.events import check_options, sample_event
from treblehook.home.dry_run.wish import Wish
from treblehook.home.event_names import EventName
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.host.tool import ShellTool
from treblehook.host.tools import builtin_tools
from treblehook.runtimes.process import ProcessRuntime
from treblehook.runtimes.wasm import WasmRuntime


async def fired_at(component: Path, name: EventName, wish: Wish) -> Fired:
    """What the component answers at the first event that `name` stands for. Raises `WishInvalid`, and `ConfigInvalid` where it cannot be
    started or hears no such event."""
    check_options(name, wish)
    tools = builtin_tools(ProcessRuntime())
    known = KnownTools({tool.spec.name: tool.spec for tool in tools}, {t.spec.name: t for t in tools if isinstance(t, ShellTool)})
    event = sample_event(name.events[0], wish, known, "")
    async with WasmRuntime() as runtime:
        try:
            return await fire_component(component, event, runtime)
        except (StagingFailed, NotHeard) as failed:
            raise ConfigInvalid([Problem(str(component), "", str(failed))]) from failed


def told(fired: Fired) -> str:
    """The answer, for a person."""
    said = f"failed: {fired.error}" if fired.arm is None else f"answered {fired.arm}{'' if fired.value is None else f': {fired.value}'}"
    end = "\nThe call would be refused." if fired.refuses else ""
    return safe(f"{fired.hook} ({fired.binding.value}) {said}, {fired.ms:.1f} ms{end}")
