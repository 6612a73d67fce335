"""A hook in Python: what its functions answer, what they may ask, and what happens with answers of the wrong shape."""

from pathlib import Path

import msgspec
import pytest

from tests.support.hook_projects import built, project
from tests.support.murmur_rig import FULL, RAN, RESPONSE, SHELL_GATE, STAGE, START, TASK, TASK_END, MurmurRig
from treblehook.contracts.murmur.authoring.firing import Fired, NotHeard, fire_component
from treblehook.contracts.murmur.grant import Grant
from treblehook.lifecycle import Event, PromptSubmitted
from treblehook.runtimes.wasm import WasmRuntime

pytest.importorskip("componentize_py")
SOURCE = """
import murmur_hook
from murmur_hook import Message, artifact, config, deny, replace_context, reopen_task, seed_context, write_manifests

seen = []


def run(event):
    source = config().get("do")
    return None if source is None else eval(source, {**globals(), "event": event})


def on_stage(event):
    return run(event)


def on_session_start(context):
    seen.append(context.model)
    return run(context)


def on_task_start(event):
    return run(event)


def on_inference(event):
    return run(event)


def on_shell(event):
    return run(event)


def on_compaction(event):
    return run(event)


def on_task_end(event):
    return run(event)
"""


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    return built(project(tmp_path / "lookout", SOURCE))


async def fired(hook: Path, runtime: WasmRuntime, event: Event, do: str | None = None) -> Fired:
    """What it answers when it evaluates `do`."""
    grant = Grant(config=None if do is None else msgspec.json.encode({"do": do}).decode())
    return await fire_component(hook, event, runtime, grant=grant)


@pytest.mark.parametrize(
    ("event", "do", "arm", "value"),
    [
        (START, None, "none", None),
        (RAN, "deny('never asked: there is no such function')", "none", None),
        (SHELL_GATE, "deny(event.argv[1] + ' ' + event.script)", "deny", "rm x rm x"),
        (RESPONSE, "artifact({'turn': event.turn})", "artifact", '{"turn": 0}'),
        (TASK_END, "reopen_task(event.exit_status)", "reopen-task", "ok"),
        (STAGE, "write_manifests({name: name.upper() for name in event.shell_allow})", "write-manifests", [("bash", "BASH"), ("rg", "RG")]),
        (FULL, "replace_context(event.messages[-1:])", "replace-context", [("assistant", '[{"type":"text","text":"a"}]')]),
        (TASK, "seed_context([Message('user', event.source)])", "seed-context", [("user", "task_md")]),
    ],
)
async def test_every_answer_arrives(hook: Path, runtime: WasmRuntime, event: Event, do: str | None, arm: str, value: object) -> None:
    answer = await fired(hook, runtime, event, do)

    assert (answer.error, answer.arm) == (None, arm)
    found = [tuple(each.values())[:2] for each in answer.value] if isinstance(answer.value, list) else answer.value
    assert found == value


@pytest.mark.parametrize(
    ("event", "do", "error"),
    [
        (SHELL_GATE, "'no'", "TypeError: on_shell answered 'no'; allowed is nothing, or one of the answers of murmur_hook"),
        (SHELL_GATE, "True", "TypeError: on_shell answered True; allowed is nothing, or one of the answers of murmur_hook"),
        (SHELL_GATE, "deny(1)", "TypeError: on_shell: the reason is int, which is no text"),
        (TASK, "seed_context('hello')", "TypeError: on_task_start: allowed is a list of Message"),
        (TASK, "seed_context([Message('user', 1)])", "TypeError: on_task_start: a content is int, which is no text"),
        (STAGE, "write_manifests(['rg'])", "TypeError: on_stage: allowed is a dict of texts, by the names of the binaries"),
        (START, "1 / 0", "ZeroDivisionError: division by zero"),
        (TASK_END, "murmur_hook.task_output()", "HostError: not-granted"),
        (TASK, "murmur_hook.read_messages()", "HostError: not-granted"),
        (FULL, "murmur_hook.run_inference(event.messages)", "HostError: "),
    ],
)
async def test_what_is_wrong_is_an_error_with_a_reason(hook: Path, runtime: WasmRuntime, event: Event, do: str, error: str) -> None:
    answer = await fired(hook, runtime, event, do)

    assert answer.arm is None
    assert (answer.error or "").startswith(error)


async def test_it_asks_its_host(hook: Path, rig: MurmurRig) -> None:
    do = "deny(murmur_hook.run_inference([Message('user', 'x')], 'Be short.').text + str(murmur_hook.count_tokens('four')) + seen[0])"
    grant = Grant(config=msgspec.json.encode({"do": f"{do} if hasattr(event, 'argv') else None"}).decode(), conversation=True)
    payload = (hook / "lookout.wasm").read_bytes()
    rig.hook("lookout", payload, grant=grant, binding="on-shell", policy="deny")
    await rig.start()
    await rig.fire(START)
    outcome = await rig.fire(SHELL_GATE)

    # It is bound to on-shell alone, so that nothing was seen before.
    assert outcome.decision is not None
    assert "IndexError" in str(outcome.decision)
    assert [(request.system, request.model) for _, request in rig.host.requests] == [("Be short.", None)]


async def test_an_event_that_no_component_hears(hook: Path, runtime: WasmRuntime) -> None:
    with pytest.raises(NotHeard, match="PromptSubmitted; there are on-stage"):
        await fire_component(hook, PromptSubmitted(prompt="x"), runtime)
