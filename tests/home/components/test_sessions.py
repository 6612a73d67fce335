"""`[[artifacts]]` in config.toml: component hooks in ordinary sessions (murmur.md; design, section 3)."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.murmur_guests import NONE, TRAP, Arm, Errs, hook
from tests.support.nest import Nest, nest
from treblehook.agent.session import Session
from treblehook.engine import Ended
from treblehook.host.problems import ConfigInvalid

__all__ = ["nest"]

Record = dict[str, Any]
DIG = {"name": "bash", "args": {"command": "echo dug > hole"}}


def install(nest: Nest, name: str, bodies: Mapping[str, Arm | Errs | str], **manifest: str) -> None:
    """Put a hook into the home, at the end of its list."""
    folder = nest.folder / "artifacts" / name
    folder.mkdir(parents=True)
    lines = {"name": name, "version": '"1.0.0"', "runtime": "hook", **manifest}
    (folder / "murmur.yaml").write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
    (folder / "hook.wasm").write_bytes(hook(bodies))
    config = nest.folder / "config.toml"
    before = config.read_text() if config.exists() else ""
    config.write_text(f'{before}\n[[artifacts]]\nname = "{name}"\nruntime = "hook"\nsource = "artifacts/{name}"\n')


def trace(nest: Nest, session: Session) -> list[Record]:
    file = nest.folder / "sessions" / session.id / "trace.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def log(nest: Nest, session: Session, name: str) -> str:
    file = nest.folder / "sessions" / session.id / "logs" / f"hook-{name}.log"
    return file.read_text() if file.exists() else ""


async def dig(nest: Nest, **wish: Any) -> Session:
    """A session in which the model digs, and says so."""
    nest.plays({"tools": [DIG]}, {"text": "dug"})
    session = await nest.open(**wish)
    await session.prompt("dig")
    return session


def results(nest: Nest) -> list[Record]:
    return nest.ears.of("tool_result")


async def test_a_policy_refuses_what_bash_would_run(nest: Nest) -> None:
    install(nest, "guard", {"on-shell": Arm("deny", "no digging")}, binding="on-shell", commit_policy="deny")

    session = await dig(nest)

    (result,) = results(nest)
    assert not result["ran"]
    for said in ("guard", "no digging", "not run", "refused again"):
        assert said in result["content"]
    assert not (nest.workspace / "hole").exists()
    (denied,) = trace(nest, session)
    assert (denied["event_type"], denied["event"], denied["hook_name"], denied["reason"]) == (
        "call_denied",
        "on-shell",
        "guard",
        "no digging",
    )
    assert os.path.isabs(denied["target"])
    assert oct((nest.folder / "sessions" / session.id / "trace.jsonl").stat().st_mode & 0o777) == "0o600"


async def test_a_clean_none_lets_it_run_and_the_policy_sees_that(nest: Nest) -> None:
    install(nest, "guard", {"on-shell": NONE}, binding="on-shell", commit_policy="deny")

    session = await dig(nest)

    assert results(nest)[0]["ran"]
    asked = [record["event"] for record in nest.ears.of("hook")]
    assert asked == ["on-shell", "on-shell"]
    assert trace(nest, session) == []


@pytest.mark.parametrize("defect", [TRAP, Errs("x"), Arm("artifact", "{}"), Arm("deny", " ")])
async def test_a_policy_that_breaks_refuses(nest: Nest, defect: Arm | Errs | str) -> None:
    install(nest, "guard", {"on-shell": defect}, binding="on-shell", commit_policy="deny")

    await dig(nest)

    assert not results(nest)[0]["ran"]


async def test_without_hooks_gates_still_stand(nest: Nest) -> None:
    install(nest, "guard", {"on-shell": Arm("deny", "no")}, binding="on-shell", commit_policy="deny")
    install(nest, "watcher", {}, binding="on-inference")

    await dig(nest, profile="bare")

    assert not results(nest)[0]["ran"]
    assert {record["hook"] for record in nest.ears.of("hook")} <= {"guard"}


async def test_a_tool_policy_is_asked_about_tools_and_not_about_commands(nest: Nest) -> None:
    install(nest, "guard", {"on-tool-call": Arm("deny", "no reading")}, binding="on-tool-call", commit_policy="deny")
    nest.plays({"tools": [{"name": "read", "args": {"path": "hole"}}, DIG]}, {"text": "done"})
    session = await nest.open()

    await session.prompt("go")

    assert [result["ran"] for result in results(nest)] == [False, True]


async def test_a_subagent_is_guarded_by_the_same_instance(nest: Nest) -> None:
    install(nest, "guard", {"on-shell": Arm("deny", "no")}, binding="on-shell", commit_policy="deny")
    install(nest, "observer", {})
    nest.plays(
        {"tools": [{"name": "agent", "args": {"task": "dig"}}]},
        {"text": "done"},
        routes=[{"match": "dig", "turns": [{"tools": [DIG]}, {"text": "could not"}]}],
    )
    session = await nest.open()

    await session.prompt("have it done")

    of_child = [record for record in nest.ears.records if record["session"] != session.id]
    assert [record["ran"] for record in of_child if record["type"] == "tool_result"] == [False]
    events = {record["event"] for record in of_child if record["type"] == "hook" and record["hook"] == "observer"}
    assert events <= {"on-inference", "on-tool-call", "on-shell"}


async def test_observers_fail_open_and_their_words_are_in_their_log(nest: Nest) -> None:
    install(nest, "observer", {"on-tool-call": Errs("boom"), "on-inference": Arm("write-manifests", [])})

    session = await dig(nest)
    await session.finish("closed")

    assert results(nest)[0]["ran"]
    assert "boom\n" in log(nest, session, "observer")
    assert {(line["event"], line["arm"]) for line in trace(nest, session)} == {("on-inference", "write-manifests")}


async def test_artifacts_of_on_inference_are_told(nest: Nest) -> None:
    install(nest, "summary", {"on-inference": Arm("artifact", '{"a": 1}')}, binding="on-inference")

    await dig(nest)

    assert {(record["hook"], record["content"]) for record in nest.ears.of("artifact")} == {("summary", '{"a": 1}')}


async def test_a_hook_that_cannot_be_staged_lets_no_session_start(nest: Nest) -> None:
    install(nest, "guard", {}, binding="on-shell", commit_policy="seed-context")

    with pytest.raises(ConfigInvalid, match=r"artifacts\[0\].*guard@.*invalid config"):
        await nest.open()
    assert list((nest.folder / "sessions").glob("*.jsonl")) == []


async def test_on_stage_belongs_to_capsules(nest: Nest) -> None:
    install(nest, "stager", {}, binding="on-stage")

    with pytest.raises(ConfigInvalid, match="only a capsule is staged"):
        await nest.open()


async def test_what_is_no_hook_is_told(nest: Nest) -> None:
    install(nest, "guard", {}, binding="on-shell")
    config = nest.folder / "config.toml"
    config.write_text(config.read_text().replace('runtime = "hook"', 'runtime = "tool"'))

    with pytest.raises(ConfigInvalid, match="only hooks are run"):
        await nest.open()


async def test_a_policy_has_no_other_mode_than_on(nest: Nest) -> None:
    install(nest, "guard", {}, binding="on-shell", commit_policy="deny")
    config = nest.folder / "config.toml"
    config.write_text(config.read_text() + '\n[hooks."guard"]\nmode = "report"\n')

    with pytest.raises(ConfigInvalid, match=r"hooks\.guard\.mode.*a gate is always on"):
        await nest.open()


async def test_an_observer_can_be_switched_off(nest: Nest) -> None:
    install(nest, "observer", {})
    config = nest.folder / "config.toml"
    config.write_text(config.read_text() + '\n[hooks."observer"]\nmode = "off"\n')

    await dig(nest)

    assert nest.ears.of("hook") == []


async def test_sessions_have_instances_of_their_own_and_end_them(nest: Nest) -> None:
    install(nest, "observer", {"on-session-start": TRAP})
    first, second = await nest.open(), await nest.open()
    staged = await nest.home.components.staged()
    assert staged is not None

    assert len(staged.runtime._instances) == 2
    for session in (first, second):
        await session.finish("closed")

    assert len(staged.runtime._instances) == 0
    assert "trapped" in log(nest, first, "observer")
    assert {call.ended for call in first.state.dispatcher.journal.calls} >= {Ended.FAILED}


def test_a_home_without_components_loads_no_library(tmp_path: Path) -> None:
    code = "import sys, asyncio, os, pathlib\nfrom treblehook.home import sessions, listing\nfrom treblehook.home.home import Home\n"
    code += f"home = Home(pathlib.Path({str(tmp_path)!r}), os.environ)\nassert asyncio.run(home.components.staged()) is None\n"
    code += "assert not {'wasmtime', 'lupa', 'numpy', 'yaml'} & set(sys.modules), sorted(sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr


async def test_a_hook_that_comes_along_is_listed_by_its_name(nest: Nest) -> None:
    (nest.folder / "config.toml").write_text('[[artifacts]]\nname = "protect-shell"\nruntime = "hook"\nconfig = { protect = ["hole"] }\n')

    await dig(nest)

    assert not results(nest)[0]["ran"]
    assert "protect-shell" in results(nest)[0]["content"]
