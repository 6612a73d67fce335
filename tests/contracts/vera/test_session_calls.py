"""What a session does with tool calls that hooks saw before and after (vera.md 3.1, 3.2; cases 33 to 68, 141, 144)."""

import json
from typing import Any

import pytest

from tests.support.nest import KEEPS_STDIN, OBSERVE, Nest, Prompts, bash, check_answered, says, unnamed
from treblehook.agent.models.model import ModelReply
from treblehook.contracts.python import Hooks
from treblehook.host.spill import limited
from treblehook.lifecycle import PreToolCall, Rewrite, ToolCall

TOLD = """command=$(sed 's/.*"command":"\\([^"]*\\)".*/\\1/')
echo "pre $command" >> LOG
echo '{"power":"observe"}'"""
"""A script that writes into the log which command it was asked about."""


def replaces(text: str, *, error: bool = False) -> str:
    return says({"power": "replace", "result": {"content": [{"type": "text", "text": text}], "isError": error}})


def patches(**patch: Any) -> str:
    if "content" in patch:
        patch["content"] = [{"type": "text", "text": patch["content"]}]
    return says({"power": "mutate", "patch": patch})


def result_of(nest: Nest) -> dict[str, Any]:
    (result,) = nest.ears.of("tool_result")
    return result


async def test_case_033_a_block_is_the_result_and_nothing_else_is_asked(nest: Nest) -> None:
    nest.hook("pre_tool_use", "guard", says({"power": "block", "reason": "no"}))
    nest.recorder("pre_tool_use", "second")
    nest.recorder("post_tool_use", "after")
    nest.plays(bash("touch here"), {"text": "So be it."})
    prompts = Prompts()
    session = await nest.open(approver=prompts)

    assert (await session.prompt("go")).text == "So be it."

    result = result_of(nest)
    assert (result["content"], result["is_error"], result["ran"]) == ("no", True, False)
    tool = session.state.conversation.messages[2]
    assert (tool.role, tool.text, tool.is_error) == ("tool", "no", True)
    assert prompts.calls == []
    assert (nest.sent("second"), nest.sent("after")) == ([], [])
    assert not (nest.workspace / "here").exists()


async def test_the_siblings_of_a_blocked_call_still_run(nest: Nest) -> None:
    nest.answers("pre_tool_use", "guard", {"rm": {"power": "block", "reason": "no"}})
    nest.plays(bash("echo one", "rm x", "echo two"))
    session = await nest.open()

    await session.prompt("go")

    assert [result["content"] for result in nest.ears.of("tool_result")] == ["one\n", "no", "two\n"]


async def test_case_037_the_prompt_the_tool_and_later_hooks_see_the_changed_input(nest: Nest) -> None:
    nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo changed"}}))
    nest.recorder("pre_tool_use", "second")
    nest.recorder("post_tool_use", "after")
    nest.plays(bash("echo asked"))
    prompts = Prompts()
    session = await nest.open(approver=prompts)

    await session.prompt("go")

    assert [call.input for call in prompts.calls] == [{"command": "echo changed"}]
    assert nest.sent("second")[0]["toolCall"]["input"] == {"command": "echo changed"}
    (after,) = nest.sent("after")
    assert after["toolCall"]["input"] == {"command": "echo changed"}
    assert after["result"]["content"] == [{"type": "text", "text": "changed\n"}]
    assert session.state.conversation.messages[1].calls[0].input == {"command": "echo changed"}
    (shown,) = nest.ears.of("tool_call")
    assert (shown["input"], shown["asked"]) == ({"command": "echo changed"}, {"command": "echo asked"})


async def test_an_input_is_replaced_as_a_whole(nest: Nest) -> None:
    nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo hi"}}))
    nest.plays({"tools": [{"name": "bash", "args": {"command": "sleep 5", "timeout_ms": 1}}]})
    session = await nest.open()

    await session.prompt("go")

    assert result_of(nest)["content"] == "hi\n"


async def test_id_and_name_of_a_call_cannot_be_changed(nest: Nest) -> None:
    nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "true"}, "id": "x", "name": "write"}))
    nest.plays(bash("echo asked"))
    session = await nest.open()

    await session.prompt("go")

    (call,) = nest.ears.of("tool_call")
    assert (call["id"], call["name"]) == (session.state.conversation.messages[1].calls[0].id, "bash")


async def test_case_040_a_block_after_a_change_keeps_the_changed_input(nest: Nest) -> None:
    nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo changed"}}))
    nest.hook("pre_tool_use", "guard", says({"power": "block", "reason": "no"}))
    nest.plays(bash("echo asked"))
    session = await nest.open()

    await session.prompt("go")

    assert result_of(nest)["content"] == "no"
    assert session.state.conversation.messages[1].calls[0].input == {"command": "echo changed"}
    assert [r["input"] for r in nest.stored(session) if r["type"] == "tool_call"] == [{"command": "echo changed"}]


async def test_a_failure_after_a_change_blocks_with_the_original_input(nest: Nest) -> None:
    nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo changed"}}))
    nest.hook("pre_tool_use", "broken", "exit 7")
    nest.plays(bash("echo asked"))
    session = await nest.open()

    await session.prompt("go")

    result = result_of(nest)
    assert (result["is_error"], result["ran"]) == (True, False)
    for word in ("pre_tool_use", "failed", "broken", "7"):
        assert word in result["content"]
    assert session.state.conversation.messages[1].calls[0].input == {"command": "echo asked"}


async def test_a_failure_concerns_its_own_call_only(nest: Nest) -> None:
    nest.answers("pre_tool_use", "guard", {"two": {"power": "nonsense"}})
    nest.plays(bash("echo one", "echo two", "echo three"))
    session = await nest.open()

    await session.prompt("go")

    assert [(r["ran"], r["is_error"]) for r in nest.ears.of("tool_result")] == [(True, False), (False, True), (True, False)]


async def test_case_041_and_068_a_replacement_goes_through_the_post_hook_once(nest: Nest) -> None:
    nest.hook("pre_tool_use", "instead", replaces("made up"))
    nest.recorder("pre_tool_use", "second")
    nest.recorder("post_tool_use", "after")
    nest.plays(bash("touch here"))
    prompts = Prompts()
    session = await nest.open(approver=prompts)

    await session.prompt("go")

    assert prompts.calls == []
    assert nest.sent("second") == []
    (after,) = nest.sent("after")
    assert after["result"] == {
        "toolCallId": after["toolCall"]["id"],
        "toolName": "bash",
        "content": [{"type": "text", "text": "made up"}],
        "isError": False,
    }
    assert after["durationMs"] == 0
    result = result_of(nest)
    assert (result["content"], result["is_error"], result["ran"], result["ms"]) == ("made up", False, False, 0)
    assert [record["type"] for record in nest.ears.records if record["type"].startswith("tool_")] == ["tool_call", "tool_result"]
    assert not (nest.workspace / "here").exists()


async def test_a_replacement_can_be_patched(nest: Nest) -> None:
    nest.hook("pre_tool_use", "instead", replaces("made up"))
    nest.hook("post_tool_use", "after", patches(content="patched", isError=True))
    nest.plays(bash("true"))
    session = await nest.open()

    await session.prompt("go")

    result = result_of(nest)
    assert (result["content"], result["is_error"]) == ("patched", True)
    assert session.state.conversation.messages[2].text == "patched"


@pytest.mark.parametrize("error", [True, False])
async def test_an_empty_replacement_is_a_result(nest: Nest, error: bool) -> None:
    nest.hook("pre_tool_use", "instead", says({"power": "replace", "result": {"content": [], "isError": error}}))
    nest.plays(bash("true"))
    session = await nest.open()

    await session.prompt("go")

    assert (result_of(nest)["content"], result_of(nest)["is_error"]) == ("", error)


async def test_case_046_every_call_of_a_reply_is_asked_about_before_any_runs(nest: Nest) -> None:
    log = nest.place / "log"
    nest.hook("pre_tool_use", "one", TOLD.replace("LOG", f"{log}"))
    nest.hook("pre_tool_use", "two", TOLD.replace("LOG", f"{log}").replace("pre ", "pre2 "))
    nest.plays(bash(f"echo X >> {log}", f"echo Y >> {log}"))
    session = await nest.open()

    await session.prompt("go")

    x, y = f"echo X >> {log}", f"echo Y >> {log}"
    assert log.read_text().splitlines() == [f"pre {x}", f"pre2 {x}", f"pre {y}", f"pre2 {y}", "X", "Y"]


async def test_case_048_a_tool_that_is_not_offered_is_refused_unasked(nest: Nest) -> None:
    nest.recorder("pre_tool_use")
    nest.recorder("post_tool_use")
    nest.plays({"tools": [{"name": "teleport", "args": {}}, {"name": "bash", "args": {"command": "echo hi"}}]})
    session = await nest.open()

    await session.prompt("go")

    assert [payload["toolCall"]["name"] for payload in nest.sent("pre_tool_use")] == ["bash"]
    assert [payload["toolCall"]["name"] for payload in nest.sent("post_tool_use")] == ["bash"]
    refused, _ = nest.ears.of("tool_result")
    assert (refused["name"], refused["is_error"], refused["ran"]) == ("teleport", True, False)
    check_answered(session.state.conversation.messages)


@pytest.mark.parametrize("deny", ["rule", "user"])
async def test_case_065_a_denied_call_has_no_post_hook(nest: Nest, deny: str) -> None:
    if deny == "rule":
        nest.settings('[permissions]\ndeny = ["bash"]\n')
    nest.recorder("pre_tool_use")
    nest.recorder("post_tool_use")
    nest.plays(bash("true"))
    session = await nest.open(approver=Prompts(answer=False))

    await session.prompt("go")

    assert (result_of(nest)["ran"], result_of(nest)["is_error"]) == (False, True)
    assert len(nest.sent("pre_tool_use")) == 1
    assert nest.sent("post_tool_use") == []


async def test_case_066_a_call_that_failed_has_its_post_hook(nest: Nest) -> None:
    nest.hook("post_tool_use", "after", patches(isError=False))
    nest.plays(bash("echo oh; exit 3"))
    session = await nest.open()

    await session.prompt("go")

    (payload,) = nest.sent("after")
    assert payload["result"]["isError"] is True
    assert payload["durationMs"] > 0
    result = result_of(nest)
    assert (result["is_error"], result["ran"]) == (False, True)
    assert result["content"] == payload["result"]["content"][0]["text"]


async def test_a_failing_post_hook_leaves_the_original_result(nest: Nest) -> None:
    nest.hook("post_tool_use", "first", patches(content="patched"))
    nest.hook("post_tool_use", "broken", "exit 1")
    nest.recorder("post_tool_use", "third")
    nest.plays(bash("echo original"))
    session = await nest.open()

    await session.prompt("go")

    assert result_of(nest)["content"] == "original\n"
    assert nest.sent("third") == []


async def test_a_big_result_is_sent_shortened_and_observing_keeps_the_whole(nest: Nest) -> None:
    nest.recorder("post_tool_use", "one")
    nest.recorder("post_tool_use", "two")
    nest.plays(bash("yes treasure | head -c 300000; echo; echo END"))
    session = await nest.open()

    await session.prompt("go")

    whole = "treasure\n" * 33333 + "tre\nEND\n"
    for name in ("one", "two"):
        assert nest.sent(name)[0]["result"]["content"][0]["text"] == limited(whole)
    (kept,) = (nest.folder / "sessions" / session.id / "results").iterdir()
    assert kept.read_text() == whole
    assert str(kept) in session.state.conversation.messages[2].text


async def test_what_a_hook_makes_of_a_big_result_is_all_that_is_kept(nest: Nest) -> None:
    nest.hook("post_tool_use", "redact", patches(content="short"))
    nest.plays(bash("yes secret | head -c 300000"))
    session = await nest.open()

    await session.prompt("go")

    assert result_of(nest)["content"] == "short"
    assert not (nest.folder / "sessions" / session.id / "results").exists()
    assert b"secret\\nsecret" not in nest.on_disk()


async def test_calls_with_the_same_id_are_kept_apart(nest: Nest) -> None:
    """A model that numbers its calls badly: each is asked about, run and answered for itself."""
    nest.hook(
        "pre_tool_use",
        "double",
        f"""{KEEPS_STDIN}tail -n 1 "$0.stdin" | python3 -c '
import json, sys
call = json.load(sys.stdin)["toolCall"]
print(json.dumps({{"power": "mutate", "input": {{"command": call["input"]["command"] + "; echo checked"}}}}))'""",
    )
    nest.recorder("post_tool_use", "after")
    calls = tuple(ToolCall("call_1", "bash", {"command": f"echo {word}"}) for word in ("one", "two", "three"))
    nest.replies.append(ModelReply("", calls, "tools", raw=json.dumps({"signed": True})))
    session = await nest.open()

    await session.prompt("go")

    assert [r["content"] for r in nest.ears.of("tool_result")] == ["one\nchecked\n", "two\nchecked\n", "three\nchecked\n"]
    _, reply, *results, _ = session.state.conversation.messages
    ids = [call.id for call in reply.calls]
    assert len(set(ids)) == 3
    assert ids[0] == "call_1"
    assert [call.input["command"] for call in reply.calls] == [f"echo {word}; echo checked" for word in ("one", "two", "three")]
    assert [(m.call_id, m.text.split()[0]) for m in results] == list(zip(ids, ("one", "two", "three"), strict=True))
    assert [payload["result"]["toolCallId"] for payload in nest.sent("after")] == ids
    check_answered(session.state.conversation.messages)
    await session.finish("detached")
    again = await nest.open(resume=session.id)
    assert unnamed(again.state.conversation.messages) == unnamed(session.state.conversation.messages)


async def test_ids_that_come_again_in_the_next_reply_do_not_mix(nest: Nest) -> None:
    for word in ("one", "two"):
        nest.replies.append(ModelReply("", (ToolCall("call_1", "bash", {"command": f"echo {word}"}),), "tools"))
    nest.recorder("pre_tool_use")
    session = await nest.open()

    await session.prompt("go")

    assert [payload["toolCall"]["id"] for payload in nest.sent("pre_tool_use")] == ["call_1", "call_1"]
    messages = session.state.conversation.messages
    assert [m.calls[0].input["command"] for m in messages if m.calls] == ["echo one", "echo two"]
    check_answered(messages)
    await session.finish("detached")
    again = await nest.open(resume=session.id)
    assert unnamed(again.state.conversation.messages) == unnamed(messages)


async def test_an_id_made_distinct_takes_no_other_calls_id(nest: Nest) -> None:
    calls = tuple(ToolCall(id, "bash", {"command": f"echo {n}"}) for n, id in enumerate(("a", "a", "a-2", "a")))
    nest.replies.append(ModelReply("", calls, "tools"))
    session = await nest.open()

    await session.prompt("go")

    messages = session.state.conversation.messages
    assert [call.id for call in messages[1].calls] == ["a", "a-3", "a-2", "a-4"]
    assert [m.text for m in messages if m.role == "tool"] == ["0\n", "1\n", "2\n", "3\n"]


@pytest.mark.parametrize("by", ["executable", "function"])
async def test_what_the_provider_wants_back_is_dropped_with_a_changed_input(nest: Nest, by: str) -> None:
    hooks = Hooks()
    if by == "executable":
        nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo changed"}}))
    else:
        hooks.on(PreToolCall)(lambda event: Rewrite(input={"command": "echo changed"}))
    reply = ModelReply("", (ToolCall("call_1", "bash", {"command": "echo asked"}),), "tools", raw="signed: echo asked")
    nest.replies.append(reply)
    session = await nest.open(hooks=hooks)

    await session.prompt("go")

    assert [message.raw for message in session.state.conversation.messages if message.calls] == [""]
    assert b"signed" not in nest.on_disk()


async def test_what_the_provider_wants_back_stays_where_the_input_came_out_the_same(nest: Nest) -> None:
    nest.hook("pre_tool_use", "change", says({"power": "mutate", "input": {"command": "echo asked"}}))
    reply = ModelReply("", (ToolCall("call_1", "bash", {"command": "echo asked"}),), "tools", raw="signed")
    nest.replies.append(reply)
    session = await nest.open()

    await session.prompt("go")
    await session.finish("detached")

    assert session.state.conversation.messages[1].raw == "signed"
    assert (await nest.open(resume=session.id)).state.conversation.messages[1].raw == "signed"


async def test_case_141_a_script_without_output_leaves_the_call_to_the_permission_check(nest: Nest) -> None:
    nest.claude("PreToolUse", "quiet", "exit 0")
    nest.plays(bash("echo hi"))
    prompts = Prompts()
    session = await nest.open(approver=prompts)

    await session.prompt("go")

    assert [call.name for call in prompts.calls] == ["bash"]
    assert result_of(nest)["content"] == "hi\n"


async def test_case_144_allow_grants_nothing(nest: Nest) -> None:
    nest.claude(
        "PreToolUse",
        "allow",
        f"""{KEEPS_STDIN}echo '{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"allow"}}}}'""",
    )
    nest.plays(bash("touch here"))
    prompts = Prompts(answer=False)
    session = await nest.open(approver=prompts)

    await session.prompt("go")

    assert len(prompts.calls) == 1
    assert result_of(nest)["ran"] is False
    assert nest.sent("allow")[0]["tool_name"] == "Bash"
    assert not (nest.workspace / "here").exists()


async def test_a_hook_runs_where_the_host_runs(nest: Nest) -> None:
    """vera.md 6, case 189, in a session: the workspace is in the payload only."""
    nest.hook("pre_tool_use", "where", 'pwd > "$0.pwd"; ' + OBSERVE)
    nest.plays(bash("pwd"))
    session = await nest.open()

    await session.prompt("go")

    assert (nest.hooks / "where.pwd").read_text().strip() != str(nest.workspace)
    assert result_of(nest)["content"].strip() == str(nest.workspace)
