"""What a hook may ask its host (murmur.md 3.7, cases 141 to 144)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.guests import python_scripted
from tests.support.murmur_rig import END, FULL, OBSERVED, RAN, RESPONSE, SHELL_RAN, STAGE, START, TASK, TASK_END, MurmurRig
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.imports.task_io import window
from treblehook.contracts.murmur.services import ConversationUnavailable, InferenceFailed, InferenceRequest, TaskText
from treblehook.lifecycle import Event, Message

TRIES = """
def tried(ask):
    try:
        return ask()
    except Err as error:
        return getattr(error.value, 'name', error.value)
"""


async def asked(rig: MurmurRig, code: str, event: Event = SHELL_RAN, **grant: Any) -> str:
    """What a hook says of what its code leaves in `found`, at `event`."""
    await listens(rig, code, **grant)
    await rig.fire(event)
    return rig.sink.of("hook")[-1]


async def listens(rig: MurmurRig, code: str, **grant: Any) -> None:
    source = f"{TRIES}\n{code}\nsaid(found)"
    rig.hook("hook", python_scripted().read_bytes(), grant=Grant(config=json.dumps(dict.fromkeys(OBSERVED, source)), **grant))
    await rig.start()


TASK_CODE = """
form = task.TaskInputForm
found = [tried(ask) for ask in (
    lambda: task.input_len(form.AS_GIVEN), lambda: task.input_len(form.ORIGINAL), lambda: task.read_input(form.AS_GIVEN, 0, 100),
    lambda: task.read_input(form.ORIGINAL, 0, 100), lambda: task.output_len(), lambda: task.read_output(0, 100))]
"""
INPUT = [len("dig again"), len("dig"), "dig again", "dig"]


@pytest.mark.parametrize(
    ("event", "output", "found"),
    [
        (START, None, ["NO_TASK"] * 6),
        (TASK, None, ["NO_TASK"] * 6),
        (END, "done", ["NO_TASK"] * 6),
        *((event, None, [*INPUT, "NO_OUTPUT", "NO_OUTPUT"]) for event in (RESPONSE, RAN, SHELL_RAN, FULL, TASK_END)),
        *((event, "done", [*INPUT, "NO_OUTPUT", "NO_OUTPUT"]) for event in (RESPONSE, RAN, SHELL_RAN, FULL)),
        (TASK_END, "done", [*INPUT, 4, "done"]),
    ],
)
async def test_case_141_what_is_in_scope_at_each_event(rig: MurmurRig, event: Event, output: str | None, found: list[Any]) -> None:
    rig.host.text = TaskText("dig again", "dig", output)

    assert await asked(rig, TASK_CODE, event, task_io=True) == str(found)


async def test_case_141_between_tasks_there_is_none(rig: MurmurRig) -> None:
    assert await asked(rig, TASK_CODE, SHELL_RAN, task_io=True) == str(["NO_TASK"] * 6)


async def test_case_141_without_the_grant(rig: MurmurRig) -> None:
    rig.host.text = TaskText("dig", "dig")

    assert await asked(rig, TASK_CODE) == str(["NOT_GRANTED"] * 6)


async def test_case_142_a_window_splits_no_character(rig: MurmurRig) -> None:
    rig.host.text = TaskText("aéb", "aéb")
    code = "found = [tried(lambda: task.read_input(task.TaskInputForm.AS_GIVEN, at, most)) for at in range(6) for most in (0, 1, 2, 9)]"

    assert await asked(rig, code, task_io=True) == str(
        ["", "a", "a", "aéb", "", "", "é", "éb", *["OUT_OF_RANGE"] * 4, "", "b", "b", "b", "", "", "", "", *["OUT_OF_RANGE"] * 4]
    )


@given(st.text(), st.integers(0, 40), st.integers(0, 2**64 - 1) | st.integers(0, 9))
def test_case_142_windows(text: str, offset: int, most: int) -> None:
    content = text.encode()
    found = window(content, offset, most)

    borders = [len(text[:at].encode()) for at in range(len(text) + 1)]
    if offset not in borders:
        assert found is None
    else:
        ends = [border for border in borders if offset <= border <= offset + most]
        assert found == content[offset : ends[-1]].decode()


PAGES = """
found, cursor = [], None
while True:
    page = conversation.read_messages(cursor, LIMIT)
    found.append([json.loads(message.content)[0]['text'] for message in page.messages])
    cursor = page.next_cursor
    if cursor is None:
        break
found.append(page.total)
"""


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 100, 2**32 - 1])
async def test_case_143_the_newest_come_first_in_pages(rig: MurmurRig, limit: int) -> None:
    rig.host.said = [Message("user", str(number)) for number in range(205)]
    size = min(max(limit, 1), 100)
    newest = [str(number) for number in reversed(range(205))]

    found = await asked(rig, PAGES.replace("LIMIT", str(limit)), conversation=True)

    assert found == str([*(newest[at : at + size] for at in range(0, 205, size)), 205])


async def test_case_143_what_is_said_meanwhile_does_not_move_a_cursor(rig: MurmurRig) -> None:
    rig.host.said = [Message("user", str(number)) for number in range(4)]
    code = (
        "seen.append(conversation.read_messages(seen[-1].next_cursor if seen else None, 2)); found = [m.content for m in seen[-1].messages]"
    )
    await listens(rig, code, conversation=True)

    await rig.fire(SHELL_RAN)
    rig.host.said = [*rig.host.said, Message("user", "new")]
    await rig.fire(SHELL_RAN)

    assert [[json.loads(content)[0]["text"] for content in eval(line)] for line in rig.sink.of("hook")] == [["3", "2"], ["1", "0"]]


@pytest.mark.parametrize("cursor", ["", "mc_", "mc_0", "mc_3", "mc_-1", "mc_1x", "mc_01", "2", "mc_9999999999", "mc_²"])
async def test_case_143_a_cursor_that_was_not_given_out(rig: MurmurRig, cursor: str) -> None:
    rig.host.said = [Message("user", str(number)) for number in range(3)]

    assert await asked(rig, f"found = tried(lambda: conversation.read_messages({cursor!r}, 1))", conversation=True) == "invalid-cursor"


async def test_case_143_no_record_no_grant_and_none_that_can_be_read(rig: MurmurRig) -> None:
    code = """
page = tried(lambda: conversation.read_messages(None, 1))
found = page if isinstance(page, str) else (len(page.messages), page.total)
"""
    await listens(rig, code, conversation=True)

    await rig.fire(TASK)
    rig.host.said = ConversationUnavailable("the disk is gone")
    await rig.fire(TASK)

    assert rig.sink.of("hook") == ["(0, 0)", "unavailable: the disk is gone"]


async def test_case_143_without_the_grant(rig: MurmurRig) -> None:
    assert await asked(rig, "found = tried(lambda: conversation.read_messages('mc_9', 1))") == "not-granted"


INFER = """
said_by_it = lifecycle.Message('user', '"in short?"', None, None, None)
tool = lifecycle.Message('tool', 'x', None, None, None)
ask = inference.InferenceRequest([said_by_it, tool], 'be brief', MODEL)
reply = tried(lambda: inference.run_inference(ask))
found = reply if isinstance(reply, str) else (reply.text, reply.model_used, reply.input_tokens, reply.output_tokens)
"""


async def test_case_144_one_completion_without_a_grant(rig: MurmurRig) -> None:
    assert await asked(rig, INFER.replace("MODEL", "'acme/small'")) == "('a summary', 'acme/first', 7, 3)"

    messages = (Message("user", '"in short?"'), Message("user", "x"))
    assert rig.host.requests == [("hook", InferenceRequest(messages, "be brief", "acme/small"))]


async def test_case_144_a_model_that_fails_is_an_error_and_no_fault(rig: MurmurRig) -> None:
    rig.host.reply = InferenceFailed("there is no acme/small")

    assert await asked(rig, INFER.replace("MODEL", "None")) == "there is no acme/small"
    assert rig.host.requests[0][1].model is None
    assert rig.sink.faults == []


async def test_case_144_without_a_driver(rig: MurmurRig) -> None:
    rig.with_model = False

    assert "inference.driver.artifact" in await asked(rig, INFER.replace("MODEL", "None"))


async def test_case_144_at_on_stage_there_is_never_one(rig: MurmurRig) -> None:
    code = json.dumps({"on-stage": f"{TRIES}{INFER.replace('MODEL', 'None')}\nsaid(found + ' ' + str(tokens.count('four')))"})
    rig.hook("hook", python_scripted().read_bytes(), binding="on-stage", grant=Grant(config=code, task_io=True))
    await rig.stage()

    await rig.fire(STAGE)

    (line,) = rig.sink.of("hook")
    assert "inference.driver.artifact" in line
    assert line.endswith(" 4")
    assert rig.host.requests == []


async def test_tokens_are_counted_without_a_grant(rig: MurmurRig) -> None:
    assert await asked(rig, "found = [tokens.count(text) for text in ('', 'four')]") == "[0, 4]"


async def test_an_async_hook_sees_whatever_is_there(rig: MurmurRig) -> None:
    rig.host.text = TaskText("dig again", "dig", "done")
    source = f"{TRIES}\n{TASK_CODE}\nsaid(found)"
    rig.hook("hook", python_scripted().read_bytes(), mode="async", grant=Grant(config=json.dumps({"on-shell": source}), task_io=True))
    await rig.start()

    await rig.fire(SHELL_RAN)
    await rig.drain()

    assert rig.sink.of("hook") == [str([*INPUT, 4, "done"])]
