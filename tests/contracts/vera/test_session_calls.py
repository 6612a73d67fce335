"""What a session does with tool calls that hooks saw before and after (vera.md 3.1, 3.2; cases 33 to 68, 141, 144)."""

from typing import Any

import pytest

from tests.support.nest import KEEPS_STDIN, OBSERVE, Nest, Prompts, bash, check_answered, says
from treblehook.host.spill import limited

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
