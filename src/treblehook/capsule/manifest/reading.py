"""A capsule's `murmur.yaml`: read strictly, and everything that is wrong with it told at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from treblehook.capsule.manifest.values import CapsuleManifest, Compaction, Context, Inference, Lifecycle, Limits
from treblehook.contracts.murmur.yaml_text import YamlInvalid, parse_yaml
from treblehook.home.components.entries import NAME, read_artifacts
from treblehook.home.table import Table
from treblehook.host.problems import ConfigInvalid, Problem

_SHELL_NAMES: Final = "the name of a program without a slash"
_NOT_USED: Final = ("description", "runtime", "requires_files", "gateway", "exports", "retain", "spend")
"""Keys of the manifest that other hosts of capsules read."""


class Read(Struct, frozen=True):
    """A manifest and the warnings about it."""

    manifest: CapsuleManifest
    warnings: tuple[Problem, ...]


def read_manifest(file: Path, text: bytes, folder: Path) -> Read:
    """The manifest in `text`, which stands in `file` and is relative to `folder`. Raises `ConfigInvalid` with every problem."""
    try:
        content = parse_yaml(text)
    except YamlInvalid as invalid:
        raise ConfigInvalid([Problem(str(file), "", f"no YAML: {invalid}")]) from invalid
    if not isinstance(content, dict):
        found = "nothing" if content is None else "a list" if isinstance(content, list) else repr(content)
        raise ConfigInvalid([Problem(str(file), "", f"found {found}", "allowed: a table with name, version, inference, ...")])
    problems: list[Problem] = []
    top = Table(_text_keys(content, str(file), "", problems), str(file), "", problems)
    manifest = _manifest(top, file, folder)
    # Some tables are read twice.
    problems = list(dict.fromkeys(problems))
    if any(problem.level == "error" for problem in problems):
        raise ConfigInvalid(problems)
    return Read(manifest, tuple(problems))


def _text_keys(value: Any, file: str, place: str, problems: list[Problem]) -> Any:
    """`value` without keys that are no texts, which nothing could name; `on:` is true in YAML."""
    if isinstance(value, list):
        return [_text_keys(entry, file, f"{place}[{index}]", problems) for index, entry in enumerate(value)]
    if not isinstance(value, dict):
        return value
    for key in value:
        if not isinstance(key, str):
            problems.append(Problem(file, place, f"found the key {key!r}, which is no text", "put it in quotes"))
    return {
        key: _text_keys(entry, file, f"{place}.{key}" if place else key, problems) for key, entry in value.items() if isinstance(key, str)
    }


def _manifest(top: Table, file: Path, folder: Path) -> CapsuleManifest:
    name, version = _required(top, "name"), _required(top, "version")
    if name and not NAME.fullmatch(name):
        top.wrong(top.at("name"), name, "a-z, 0-9 and -, at most 100 characters, - not at its ends")
    capabilities = top.table("capabilities")
    manifest = CapsuleManifest(
        file=file,
        name=name,
        version=version,
        artifacts=tuple(read_artifacts(top, folder)),
        shell_allow=_shell_allow(capabilities),
        capabilities=tuple(_categories(capabilities)),
        limits=_limits(capabilities.table("limits")),
        context=_context(top.table("context")),
        inference=_inference(top.table("inference"), folder),
        lifecycle=_lifecycle(top.table("lifecycle")),
        environment=_environment(top.table("observability")),
        capture=_capture(top.table("trace")),
    )
    _check_capsule_wide(capabilities)
    top.ignore(*_NOT_USED)
    top.unknown()
    return manifest


def _required(table: Table, key: str) -> str:
    value = table.text(key)
    if value is None and table.values.get(key) is None:
        table.problems.append(Problem(table.file, key, "it is missing", "allowed: a text that is not empty"))
    return value or ""


def _shell_allow(capabilities: Table) -> tuple[str, ...]:
    shell = capabilities.table("shell")
    names = shell.texts("allow")
    for index, name in enumerate(names):
        if name in (".", "..") or not name.strip() or "/" in name or "\0" in name or name != name.strip():
            shell.wrong(shell.at("allow", index), name, _SHELL_NAMES)
    shell.unknown()
    return tuple(dict.fromkeys(names))


def _categories(capabilities: Table) -> Iterator[str]:
    """The categories under which the capsule is granted something (murmur.md 3.5)."""
    if capabilities.table("network").texts("allow"):
        yield "network"
    if capabilities.table("filesystem").values:
        yield "filesystem"
    if capabilities.table("shell").values.get("allow"):
        yield "shell"


def _check_capsule_wide(capabilities: Table) -> None:
    """What only an entry of a hook may have (murmur.md 7.5)."""
    if "task_io" in capabilities.values:
        what = "E-MAN-003: task_io belongs to the entry of a hook"
        capabilities.problems.append(Problem(capabilities.file, capabilities.at("task_io"), what, "move it there"))
    for key, code in (("conversation", "W-SEC-016"), ("state", "W-SEC-014")):
        if key in capabilities.values:
            what = f"{code}: it grants nothing here"
            capabilities.problems.append(
                Problem(capabilities.file, capabilities.at(key), what, "move it to the entry of a hook", level="warning")
            )
    capabilities.ignore("task_io", "conversation", "state", "spawn", "env", "resources", "containment")
    capabilities.unknown()


def _limits(table: Table) -> Limits:
    limits = Limits(
        deadline_seconds=table.amount("deadline_seconds", "seconds"),
        memory_bytes=table.count("memory_bytes", "bytes"),
        table_elements=table.count("table_elements", "elements"),
        instances=table.count("instances", "instances"),
    )
    table.unknown()
    return limits


def _context(table: Table) -> Context:
    usual = Context()
    context = Context(
        max_tokens=table.count("max_tokens", "tokens"),
        seed_budget=table.part("seed_budget", default=usual.seed_budget),
        seed_overflow_margin=table.part("seed_overflow_margin", default=usual.seed_overflow_margin),
        record=table.switch("record", default=usual.record),
    )
    table.unknown()
    return context


def _inference(table: Table, folder: Path) -> Inference:
    usual = Inference()
    transport = table.choice("transport", ("http", "process"))
    if transport == "process":
        table.wrong(table.at("transport"), transport, "http; Treblehook keeps the conversation itself")
    inference = Inference(
        model=table.text("model"),
        max_turns=table.count("max_turns", "turns") or usual.max_turns,
        compaction=_compaction(table.table("compaction"), folder),
    )
    # The model's SPEC says how it is reached.
    table.ignore("driver", "api_key", "base_url", "max_tokens")
    table.unknown()
    return inference


def _compaction(table: Table, folder: Path) -> Compaction:
    usual = Compaction()
    compaction = Compaction(
        threshold=table.part("threshold", default=usual.threshold),
        model=table.text("model"),
        system_prompt=_system_prompt(table, folder),
        dump_summaries=table.flag("dump_summaries", default=usual.dump_summaries),
    )
    table.unknown()
    return compaction


def _system_prompt(table: Table, folder: Path) -> str | None:
    text, file = table.text("system_prompt"), table.text("system_prompt_file")
    if file is None:
        return text
    if text is not None:
        table.problems.append(Problem(table.file, table.place, "both system_prompt and system_prompt_file", "leave one out"))
        return text
    try:
        return (folder / file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        what = f"{folder / file} cannot be read: {why}"
        table.problems.append(Problem(table.file, table.at("system_prompt_file"), what, "name a text file beside the manifest"))
        return None


def _lifecycle(table: Table) -> Lifecycle:
    usual = Lifecycle()
    grace = table.amount("shell_grace_secs", "seconds")
    lifecycle = Lifecycle(
        threaded=table.choice("conversation", ("stateless", "threaded")) == "threaded",
        max_task_reopens=table.number("max_task_reopens", "reopens", 0, 1000, default=usual.max_task_reopens),
        shell_grace_secs=usual.shell_grace_secs if grace is None else grace,
    )
    # A launch has the tasks that it is given, and ends after them.
    table.ignore("task_acceptance", "after_task", "queue_depth")
    table.unknown()
    return lifecycle


def _environment(table: Table) -> dict[str, str]:
    endpoint, evaluation = table.text("otel_endpoint"), table.raw("eval")
    table.unknown()
    environment = {} if endpoint is None else {"MURMUR_OTEL_ENDPOINT": endpoint}
    if evaluation is not None:
        environment["MURMUR_EVAL_CONFIG"] = evaluation if isinstance(evaluation, str) else msgspec.json.encode(evaluation).decode()
    return environment


def _capture(table: Table) -> Literal["none", "meta", "content"]:
    chosen = table.choice("capture", ("none", "meta", "content"))
    table.unknown()
    return "content" if chosen == "content" else "none" if chosen == "none" else "meta"
