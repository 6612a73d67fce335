"""A capsule's `murmur.yaml`, read strictly (murmur.md 2.6, 8.1)."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from treblehook.capsule.manifest.opening import open_capsule
from treblehook.capsule.manifest.reading import Read, read_manifest
from treblehook.capsule.manifest.values import CapsuleManifest, Compaction, Context, Inference, Lifecycle, Limits
from treblehook.contracts.murmur.grant import Grant
from treblehook.host.problems import ConfigInvalid

FILE = Path("/capsule/murmur.yaml")
LEAST = "name: nest\nversion: 0.1.0\n"


def read(text: str, folder: Path = FILE.parent) -> Read:
    return read_manifest(FILE, text.encode(), folder)


def problems(text: str) -> dict[str, str]:
    """What is wrong, by place."""
    with pytest.raises(ConfigInvalid) as caught:
        read(text)
    return {problem.place: f"{problem.message} ({problem.remedy})" for problem in caught.value.problems if problem.level == "error"}


def test_the_least_that_a_capsule_says() -> None:
    manifest = read(LEAST).manifest

    assert manifest == CapsuleManifest(file=FILE, name="nest", version="0.1.0")
    assert (manifest.inference.max_turns, manifest.inference.compaction.threshold) == (10, 0.98)
    assert (manifest.context.seed_budget, manifest.context.seed_overflow_margin, manifest.context.record) == (0.10, 0.10, True)
    assert (manifest.lifecycle.max_task_reopens, manifest.lifecycle.shell_grace_secs, manifest.lifecycle.threaded) == (1, 10.0, False)


def test_everything_that_a_capsule_may_say(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Be short.")
    text = """
name: nest
version: 0.1.0
description: A nest.
artifacts:
  - {name: guard, version: 1.0.0, runtime: hook, source: hooks/guard, on_overflow: block, config: {a: 1},
     capabilities: {filesystem: {scope: state}}}
  - {name: dig, source: /opt/dig}
  - {name: anthropic, version: 1.0.0, runtime: driver}
capabilities:
  shell: {allow: [bash, git, bash]}
  network: {allow: [example.org]}
  limits: {deadline_seconds: 2, memory_bytes: 1000000, table_elements: 5, instances: 6}
context: {max_tokens: 1000, seed_budget: 0.5, seed_overflow_margin: 0, record: off}
inference:
  model: anthropic:claude
  max_turns: 3
  driver: {artifact: anthropic}
  compaction: {threshold: 0.5, model: small, system_prompt_file: prompt.md, dump_summaries: true}
lifecycle: {task_acceptance: queue, after_task: exit, queue_depth: 3, conversation: threaded, max_task_reopens: 0, shell_grace_secs: 0.5}
observability: {otel_endpoint: "http://127.0.0.1:4318"}
trace: {capture: content}
"""

    found = read(text, tmp_path)

    assert found.warnings == ()
    manifest = found.manifest
    guard, dig, driver = manifest.artifacts
    assert (guard.source, guard.overflow, guard.grant) == (tmp_path / "hooks/guard", "block", Grant(scope="state", config='{"a":1}'))
    assert (dig.runtime, dig.version, dig.source, driver.runtime) == ("tool", "", Path("/opt/dig"), "driver")
    assert manifest.shell_allow == ("bash", "git")
    assert manifest.capabilities == ("network", "shell")
    assert manifest.limits == Limits(2.0, 1_000_000, 5, 6)
    assert manifest.context == Context(1000, 0.5, 0.0, False)
    assert manifest.inference == Inference("anthropic:claude", 3, Compaction(0.5, "small", "Be short.", True))
    assert manifest.lifecycle == Lifecycle(True, 0, 0.5)
    assert manifest.environment == {"MURMUR_OTEL_ENDPOINT": "http://127.0.0.1:4318"}
    assert manifest.capture == "content"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("name: nest\n", "version", ["missing"]),
        ("name: nest\nversion: 1.0\n", "version", ["1.0", "a text"]),
        ("name: Nest!\nversion: 1.0.0\n", "name", ["Nest!"]),
        (LEAST + "artifacts: {a: 1}\n", "artifacts", ["a table", "a list"]),
        (LEAST + "artifacts: [7]\n", "artifacts[0]", ["7", "a table"]),
        (LEAST + "artifacts: [{version: 1.0.0}]\n", "artifacts[0].name", ["missing"]),
        (LEAST + "artifacts: [{name: ../x, version: 1.0.0}]\n", "artifacts[0].name", ["../x"]),
        (LEAST + "artifacts: [{name: x, version: ../1, runtime: hook}]\n", "artifacts[0].version", ["../1"]),
        (LEAST + "artifacts: [{name: x, runtime: hok, version: 1.0.0}]\n", "artifacts[0].runtime", ["hok", "hook", "driver"]),
        (LEAST + "artifacts: [{name: x, runtime: hook}]\n", "artifacts[0]", ["version", "source"]),
        (LEAST + "artifacts: [{name: x, source: a}, {name: x, source: b}]\n", "artifacts[1].name", ["artifacts[0]"]),
        (
            LEAST + "artifacts: [{name: x, source: a, capabilities: {task_io: {read: true}}}]\n",
            "artifacts[0].capabilities.task_io",
            ["E-MAN-003"],
        ),
        (LEAST + "capabilities: {task_io: {read: true}}\n", "capabilities.task_io", ["E-MAN-003"]),
        (LEAST + "capabilities: {shell: {allow: bash}}\n", "capabilities.shell.allow", ["'bash'", "a list"]),
        (LEAST + "capabilities: {shell: {allow: ['..']}}\n", "capabilities.shell.allow[0]", ["'..'", "slash"]),
        (LEAST + "capabilities: {shell: {allow: [/bin/sh]}}\n", "capabilities.shell.allow[0]", ["/bin/sh", "slash"]),
        (LEAST + "capabilities: {shell: [bash]}\n", "capabilities.shell", ["a list", "a table"]),
        (LEAST + "capabilities: {limits: {deadline_seconds: 0}}\n", "capabilities.limits.deadline_seconds", ["0", "above 0"]),
        (LEAST + "capabilities: {limits: {memory_bytes: -1}}\n", "capabilities.limits.memory_bytes", ["-1"]),
        (LEAST + "context: {max_tokens: 0}\n", "context.max_tokens", ["0", "at least 1"]),
        (LEAST + "context: {seed_budget: 1.1}\n", "context.seed_budget", ["1.1", "0.0 to 1.0"]),
        (LEAST + "context: {seed_overflow_margin: .nan}\n", "context.seed_overflow_margin", ["nan"]),
        (LEAST + "context: {record: maybe}\n", "context.record", ["maybe", "on, off"]),
        (LEAST + "inference: {max_turns: true}\n", "inference.max_turns", ["true"]),
        (LEAST + "inference: {transport: process}\n", "inference.transport", ["process", "http"]),
        (LEAST + "inference: {compaction: {threshold: high}}\n", "inference.compaction.threshold", ["high"]),
        (
            LEAST + "inference: {compaction: {system_prompt_file: gone}}\n",
            "inference.compaction.system_prompt_file",
            ["gone", "No such file"],
        ),
        (LEAST + "inference: {compaction: {system_prompt: a, system_prompt_file: b}}\n", "inference.compaction", ["both"]),
        (LEAST + "lifecycle: {conversation: forked}\n", "lifecycle.conversation", ["forked", "stateless", "threaded"]),
        (LEAST + "lifecycle: {max_task_reopens: -1}\n", "lifecycle.max_task_reopens", ["-1"]),
        (LEAST + "trace: {capture: all}\n", "trace.capture", ["all", "content"]),
        (LEAST + "7: x\n", "", ["7", "no text"]),
        ("[]", "", ["a list", "a table"]),
        ("", "", ["nothing"]),
        ("a: [", "", ["no YAML", "line"]),
        (LEAST + "name: twice\n", "", ["name", "twice"]),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: str, words: list[str]) -> None:
    found = problems(text)

    assert place in found
    assert all(word in found[place] for word in words), found


def test_everything_that_is_wrong_is_told_at_once() -> None:
    text = "name: 1\ncontext: {max_tokens: x}\nlifecycle: {max_task_reopens: x}\nartifacts: [{}, {name: x}]\n"

    assert set(problems(text)) == {
        "name",
        "version",
        "artifacts[0].name",
        "artifacts[1]",
        "context.max_tokens",
        "lifecycle.max_task_reopens",
    }


@pytest.mark.parametrize(
    ("extra", "place", "near"),
    [
        ({"contxt": {}}, "contxt", "context"),
        ({"inference": {"max_turn": 3}}, "inference.max_turn", "max_turns"),
        ({"artifacts": [{"name": "x", "source": "a", "on_overflw": "drop"}]}, "artifacts[0].on_overflw", "on_overflow"),
        ({"lifecycle": {"max_reopens": 3}}, "lifecycle.max_reopens", "max_task_reopens"),
    ],
)
def test_an_unknown_key_is_warned_of_with_what_was_meant(extra: dict[str, Any], place: str, near: str) -> None:
    (warning,) = read(LEAST + yaml.safe_dump(extra)).warnings

    assert (warning.place, warning.level) == (place, "warning")
    assert near in warning.remedy


def test_what_grants_nothing_for_the_whole_capsule_is_warned_of() -> None:
    warnings = read(LEAST + "capabilities: {conversation: {read: true}, state: {store: x}}\n").warnings

    assert {warning.place: warning.message.partition(":")[0] for warning in warnings} == {
        "capabilities.conversation": "W-SEC-016",
        "capabilities.state": "W-SEC-014",
    }


def test_a_folder_stands_for_the_manifest_in_it(tmp_path: Path) -> None:
    (tmp_path / "murmur.yaml").write_text(LEAST)

    opened = open_capsule(tmp_path, tmp_path / "unpacked")

    assert (opened.manifest.name, opened.beside, opened.folder) == ("nest", tmp_path, tmp_path)


def test_a_manifest_that_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.yaml", tmp_path, Path("/dev/null")):
        with pytest.raises(ConfigInvalid):
            open_capsule(path, tmp_path / "unpacked")
