"""Every tool of a capsule, by its name."""

from collections.abc import Iterable, Mapping

from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.capsule.staging.tool_manifests import described, parsed
from treblehook.capsule.tools.background import BackgroundCommands
from treblehook.capsule.tools.files import file_tools
from treblehook.capsule.tools.native import NativeTool
from treblehook.capsule.tools.shell_command import LONGEST_SECONDS, ShellCommand
from treblehook.capsule.workdir import Workdir
from treblehook.home.components.resolve import Resolved
from treblehook.host.tool import AnyTool, ToolSpec
from treblehook.lifecycle import ToolCall
from treblehook.runtimes.process import ProcessRuntime


def own_names(manifest: CapsuleManifest, resolved: Resolved) -> list[str]:
    """The names under which the manifest declares tools, artifacts first: one named like an allowed program is the artifact."""
    return list(dict.fromkeys((*(artifact.name for artifact in resolved.tools), *manifest.shell_allow)))


def offered_tools(
    manifest: CapsuleManifest,
    resolved: Resolved,
    texts: Mapping[str, str],
    workdir: Workdir,
    runtime: ProcessRuntime,
    background: BackgroundCommands,
) -> dict[str, AnyTool]:
    """The tools; `texts` are their manifests as staging has left them. What the manifest declares takes the place of a file tool."""
    seconds = manifest.limits.deadline_seconds or LONGEST_SECONDS
    native = {artifact.name for artifact in resolved.tools}
    tools: dict[str, AnyTool] = {}
    for name in own_names(manifest, resolved):
        text = texts[name]
        if name in native:
            tools[name] = NativeTool(_spec(name, text), workdir.tools / name / name, runtime, seconds=seconds)
        else:
            tools[name] = ShellCommand(name, described(text, name), runtime, background, seconds=seconds)
    for tool in file_tools(workdir, runtime):
        tools.setdefault(tool.spec.name, tool)
    return tools


def _spec(name: str, text: str) -> ToolSpec:
    """How a tool artifact is offered; `input_schema` of its manifest is the schema of its input."""
    schema = parsed(text).get("input_schema")
    return ToolSpec(name, described(text, name), schema if isinstance(schema, dict) else {"type": "object"})


def undeclared(call: ToolCall, names: Iterable[str]) -> str:
    """The manifest's own refusal of a call that it does not allow; no hook is asked about it (murmur.md 5.1, D-6)."""
    return (
        f"The tool {call.name!r} is not declared: neither capabilities.shell.allow nor artifacts of this capsule's manifest name it. "
        f"The call was not run. Declared are: {', '.join(names)}."
    )
