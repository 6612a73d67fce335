"""The extension for pi, in Node and in Bun: what it sends, and what becomes of answers and of their lack."""

from typing import Any

import pytest

from tests.gateway.plugins.conftest import Daemon, Plugin


@pytest.fixture
def agent() -> str:
    return "pi"


def step(type: str, *, hasUI: bool = False, idle: bool = True, yes: bool = False, broken: bool = False, **event: Any) -> dict[str, Any]:
    return {"event": {"type": type, **event}, "hasUI": hasUI, "idle": idle, "yes": yes, "broken": broken}


def call(**how: bool) -> dict[str, Any]:
    return step("tool_call", toolName="bash", toolCallId="c1", input={"command": "ls", "timeout": 5}, **how)


def typed(**how: bool) -> dict[str, Any]:
    return step("user_bash", command="rm treasure", excludeFromContext=False, cwd="/work", **how)


def result(*content: dict[str, Any]) -> dict[str, Any]:
    return step("tool_result", toolName="bash", toolCallId="c1", input={"command": "ls"}, content=list(content), isError=False)


def prompt(**how: bool) -> dict[str, Any]:
    return step("input", text="hi", source="interactive", images=[{"data": "AAAA"}], **how)


def end(stop: str = "stop", **how: bool) -> dict[str, Any]:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "found it"}]
    return step("agent_end", messages=[{"role": "user"}, {"role": "assistant", "content": content, "stopReason": stop}], **how)


def test_a_call_is_sent_with_what_pi_gives(plugin: Plugin, daemon: Daemon) -> None:
    plugin.run(call())

    assert daemon.targets == ["/hooks/pi?event=tool_call"]
    assert daemon.calls == [
        {
            "event": "tool_call",
            "session": "s1",
            "workspace": "/work",
            "model": "scripted",
            "input": {"type": "tool_call", "toolName": "bash", "toolCallId": "c1", "input": {"command": "ls", "timeout": 5}},
        }
    ]


def test_no_opinion_changes_nothing(plugin: Plugin, daemon: Daemon) -> None:
    ran = plugin.run(call(), typed(), result({"type": "text", "text": "a"}), prompt(), end(), step("session_before_compact"))

    assert [(one["returned"], one["said"]) for one in ran] == [(None, [])] * 6
    assert ran[0]["event"]["input"] == {"command": "ls", "timeout": 5}


def test_a_denial_blocks_with_its_reason(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"deny": "leave it"}

    assert plugin.run(call())[0]["returned"] == {"block": True, "reason": "leave it"}


def test_a_rewrite_changes_the_very_object_and_drops_what_hooks_took_out(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"args": {"command": "echo b"}}

    ran = plugin.run(call())

    assert (ran[0]["returned"], ran[0]["same"], ran[0]["event"]["input"]) == (None, True, {"command": "echo b"})


def test_the_user_is_asked_about_what_would_run(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"ask": "Really?", "args": {"command": "echo b"}}

    yes, no, nobody = plugin.run(call(hasUI=True, yes=True), call(hasUI=True), call())

    assert (yes["returned"], yes["said"]) == (None, [["confirm", "bash: Really?", '{\n  "command": "echo b"\n}']])
    assert yes["event"]["input"] == {"command": "echo b"}
    assert no["returned"] == {"block": True, "reason": "Really? The user said no."}
    assert nobody["returned"] == {"block": True, "reason": "Really? There is no user here to ask, so this was not run."}


def not_run(reason: str) -> dict[str, Any]:
    return {"result": {"output": reason, "exitCode": 1, "cancelled": False, "truncated": False}}


def test_a_command_that_the_user_types_is_sent_and_may_be_denied(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"deny": "leave it"}

    assert plugin.run(typed(hasUI=True))[0]["returned"] == not_run("leave it")
    assert daemon.targets == ["/hooks/pi?event=user_bash"]
    assert daemon.calls[0]["input"] == {"type": "user_bash", "command": "rm treasure"}


def test_the_user_is_asked_about_a_command_that_was_typed(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"ask": "Really?"}

    yes, no = plugin.run(typed(hasUI=True, yes=True), typed(hasUI=True))

    assert (yes["returned"], yes["said"]) == (None, [["confirm", "bash: Really?", '{\n  "command": "rm treasure"\n}']])
    assert no["returned"] == not_run("Really? The user said no.")


@pytest.mark.parametrize("is_error", [True, False])
def test_a_patch_replaces_the_text_and_keeps_pictures(plugin: Plugin, daemon: Daemon, is_error: bool) -> None:
    daemon.answer = {"content": "b", "is_error": is_error}
    picture = {"type": "image", "data": "AAAA"}

    ran = plugin.run(result({"type": "text", "text": "a"}, picture))

    assert ran[0]["returned"] == {"content": [{"type": "text", "text": "b"}, picture], "isError": is_error}
    assert daemon.calls[0]["input"]["content"] == [{"type": "text", "text": "a"}]


def test_a_blocked_prompt_is_taken_out_and_said(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"block": "no such prompts"}

    alone, watched = (ran := plugin.run(prompt(), prompt(hasUI=True)))

    assert [one["returned"] for one in ran] == [{"action": "handled"}] * 2
    assert watched["said"] == [["notify", "The prompt was blocked: no such prompts", "warning"]]
    assert (alone["said"], ran.stderr) == ([], "The prompt was blocked: no such prompts\n")
    assert "AAAA" not in str(daemon.calls)


@pytest.mark.parametrize(("idle", "deliver"), [(True, "nextTurn"), (False, "steer")])
def test_context_goes_with_the_prompt(plugin: Plugin, daemon: Daemon, idle: bool, deliver: str) -> None:
    daemon.answer = {"context": "north is up"}
    message = {"customType": "treblehook", "content": "north is up", "display": False}

    ran = plugin.run(prompt(idle=idle), step("session_start", reason="startup", idle=idle), step("session_compact", idle=idle))

    assert [(one["returned"], one["said"]) for one in ran] == [(None, [["sendMessage", message, {"deliverAs": deliver}]])] * 3


def test_the_end_of_a_turn_is_told_with_its_reply(plugin: Plugin, daemon: Daemon) -> None:
    plugin.run(end(), end("aborted"), end("error"), step("agent_end", messages=[]))

    assert [one["input"]["messages"] for one in daemon.calls] == [
        [{"role": "assistant", "content": [{"type": "text", "text": "found it"}]}]
    ]


def test_the_model_is_sent_back_where_pi_goes_on(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"continue": "and the key?"}

    watched, alone = (ran := plugin.run(end(hasUI=True), end()))

    assert watched["said"] == [["sendUserMessage", "and the key?", {"deliverAs": "followUp"}]]
    assert alone["said"] == []
    assert ran.stderr == "treblehook: a hook would send the model back, but this run is over: and the key?\n"


def test_the_end_of_a_session_is_told(plugin: Plugin, daemon: Daemon) -> None:
    plugin.run(step("session_shutdown", reason="quit"))

    assert [(one["event"], one["input"]["reason"]) for one in daemon.calls] == [("session_shutdown", "quit")]


def test_a_closed_event_without_an_answer_is_refused(plugin: Plugin) -> None:
    coming, given, command = plugin.run(call(), prompt(), typed(), closed={"tool_call", "input", "user_bash"})

    assert coming["returned"]["block"] is True
    assert coming["returned"]["reason"].startswith("treblehook: no answer can be had, so this is denied: ")
    assert given["returned"] == {"action": "handled"}
    assert command["returned"] == not_run(coming["returned"]["reason"])


def test_an_open_event_without_an_answer_passes_and_says_so_once(plugin: Plugin) -> None:
    ran = plugin.run(call(hasUI=True), call(), typed(), prompt(), result(), end(), step("session_shutdown"))

    assert [one["returned"] for one in ran] == [None] * 7
    [[how, line, level]] = ran[0]["said"]
    assert (how, level) == ("notify", "warning")
    assert line.startswith("treblehook: tool_call: the hooks were not asked: ")
    assert ran.stderr == ""


def test_it_speaks_again_once_an_answer_has_come(plugin: Plugin) -> None:
    plugin.client(f"if [ -e {plugin.socket}.up ]; then rm {plugin.socket}.up; echo '{{}}'; else touch {plugin.socket}.up; exit 1; fi")

    ran = plugin.run(call(), call(), call())

    assert ran.stderr.count("the hooks were not asked") == 2


@pytest.mark.parametrize("closed", [True, False])
def test_an_extension_that_fails_itself_goes_by_the_policy(plugin: Plugin, daemon: Daemon, closed: bool) -> None:
    events = {"tool_call", "input", "user_bash"} if closed else set()
    ran = plugin.run(call(broken=True), prompt(broken=True), typed(broken=True), closed=events)

    if closed:
        assert ran[0]["returned"] == {"block": True, "reason": "treblehook: tool_call: the plugin failed: no session"}
        assert ran[1]["returned"] == {"action": "handled"}
        assert ran[2]["returned"] == not_run("treblehook: user_bash: the plugin failed: no session")
    else:
        assert [one["returned"] for one in ran] == [None, None, None]
        assert ran.stderr == "treblehook: tool_call: the plugin failed: no session; the hooks were not obeyed\n"
