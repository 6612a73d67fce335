"""One prompt from start to end: `run` and `arun`."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.program import Program, bash, of
from treblehook import (
    Block,
    ConfigInvalid,
    Hooks,
    ModelSpecInvalid,
    PreToolCall,
    Refuse,
    SessionEnd,
    SessionRefused,
    SessionStart,
    arun,
    run,
)


def test_a_script_gets_text_status_and_records(program: Program) -> None:
    reply = run("where is the treasure?", **program.places)

    assert (reply.text, reply.status, reply.reason) == ("Under the third palm.", "finished", "")
    assert [record["type"] for record in reply.records] == ["session", "prompt", "reply", "end"]
    assert {record["session"] for record in reply.records} == {reply.session}


def test_inside_a_running_loop_it_says_what_to_use(program: Program) -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match=r"await arun\("):
            run("where?", **program.places)

    asyncio.run(main())

    assert not (program.home / "sessions").exists()


async def test_the_async_form_does_the_same(program: Program) -> None:
    reply = await arun("where?", **program.places)

    assert (reply.text, of(reply, "end")[0]["status"]) == ("Under the third palm.", "finished")


def test_hooks_of_the_program_are_asked_among_those_of_the_home(program: Program) -> None:
    program.plays(bash("rm treasure/chest.yaml"), {"text": "I left it."})
    program.files.hook("pre_tool_use", "lookout", 'cat >/dev/null; echo \'{"power":"observe"}\'')
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="bash", on_error="closed")
    def guard(event: PreToolCall) -> Block | None:
        return Block("leave the treasure where it is") if "rm " in event.call.input["command"] else None

    reply = run("tidy up", **program.places, hooks=hooks, approve="always")

    assert of(reply, "tool_result")[0]["content"] == "leave the treasure where it is"
    assert [record["hook"] for record in of(reply, "hook")] == ["lookout", "guard"]
    assert reply.text == "I left it."


def test_a_blocked_prompt_is_a_status_not_an_exception(program: Program) -> None:
    program.files.hook("pre_turn", "quiet", 'cat >/dev/null; echo \'{"power":"block","reason":"not now"}\'')

    reply = run("where?", **program.places)

    assert (reply.status, reply.reason, reply.text) == ("blocked", "not now", "")
    assert of(reply, "end")[0]["status"] == "blocked"


def test_a_model_that_fails_is_a_status_with_the_reason(program: Program) -> None:
    program.plays({"status": 400, "error": "no such parrot"})

    reply = run("where?", **program.places)

    assert reply.status == "failed"
    assert "no such parrot" in reply.reason


def test_a_refused_session_is_an_exception_and_its_end_is_told(program: Program) -> None:
    hooks, ends = Hooks(), []
    hooks.on(SessionStart)(lambda event: Refuse("the harbour is closed"))
    hooks.on(SessionEnd)(lambda event: ends.append(event.reason))

    with pytest.raises(SessionRefused) as refused:
        run("where?", **program.places, hooks=hooks)

    assert refused.value.reason == "the harbour is closed"
    assert ends == ["refused"]


def test_a_home_that_does_not_load_names_file_and_place(program: Program) -> None:
    program.files.config.write_text('{"hooks": [{"phase": "pre_turn", "argv": []}]}')

    with pytest.raises(ConfigInvalid, match=r"config\.json: hooks\[0\]\.argv") as invalid:
        run("where?", **program.places)

    assert invalid.value.problems[0].file == str(program.files.config)


def test_a_model_that_there_is_not(program: Program) -> None:
    with pytest.raises(ModelSpecInvalid) as invalid:
        run("where?", **{**program.places, "model": "parrot:polly"})

    assert invalid.value.spec == "parrot:polly"


@pytest.mark.parametrize("prompt", ["", " \n"])
def test_a_blank_prompt_is_refused(program: Program, prompt: str) -> None:
    with pytest.raises(ValueError, match="not blank"):
        run(prompt, **program.places)


def test_background_subagents_are_waited_for(program: Program) -> None:
    program.plays(
        {"tools": [{"name": "agent", "args": {"task": "count the palms", "background": True}}]},
        {"text": "I wait."},
        {"text": "There are nine."},
        routes=[{"match": "count the palms", "turns": [{"text": "Nine palms."}]}],
    )

    reply = run("how many palms?", **program.places, approve="always")

    assert reply.text == "There are nine."
    assert len({record["session"] for record in reply.records}) == 2
    assert reply.records[-1]["type"] == "end"


def test_a_session_is_gone_on_with(program: Program) -> None:
    program.plays({"text": "Under the third palm."}, {"text": "I said so already."})
    first = run("where?", **program.places)

    second = run("where?", home=program.home, resume=first.session[:12])

    assert second.text == "I said so already."
    assert (of(second, "session")[0]["reason"], second.session) == ("resume", first.session)


def test_the_workspace_is_the_current_folder_by_default(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program.plays(bash("pwd"), {"text": "Here."})
    monkeypatch.chdir(program.workspace)

    reply = run("where are we?", home=program.home, model=program.model, approve="always")

    assert of(reply, "tool_result")[0]["content"].strip() == str(program.workspace)


def test_the_home_and_the_model_may_come_from_the_environment_and_the_settings(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program.files.settings(f"[model]\ndefault = {json.dumps(program.model)}\n")
    monkeypatch.setenv("TREBLEHOOK_HOME", str(program.home))

    assert run("where?", workspace=program.workspace).text == "Under the third palm."
    assert len(list((program.home / "sessions").glob("*.jsonl"))) == 1
