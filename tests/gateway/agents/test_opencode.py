"""OpenCode: what its plugin sends decodes to what it means, and every answer is one that the plugin puts into effect."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.drawn import ANSWERS, JSON, TEXTS, spoiled
from tests.gateway.honoured import honours
from tests.gateway.honoured_plugins import HONOURED
from tests.gateway.samples import CAPTURES
from treblehook.gateway.agents import codec_of
from treblehook.gateway.agents.opencode import OpenCode
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import (
    NO_OPINION,
    AddText,
    Answer,
    AskUser,
    CallComing,
    CallDone,
    Compacting,
    Ending,
    GoOn,
    Other,
    Patched,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
    What,
)
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall

CODEC: Codec = OpenCode()
SHAPES = HONOURED["opencode"]
BEFORE, AFTER, PROMPT = "tool.execute.before", "tool.execute.after", "chat.message"
COMMAND = {"command": "echo treasure > mark; cat mark", "description": "x"}
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** Delete File: .env\n*** End Patch"


def sent(event: str, capture: str = "", **more: Any) -> dict[str, Any]:
    """A call as the plugin makes it, of what OpenCode was seen to give."""
    found = json.loads((CAPTURES / "opencode" / f"{capture or event}.json").read_text())
    about = {"event": event, "session": "sess_0001", "subagent": "", "workspace": "/home/dev/project", "servers": ["tiny", "tiny_two"]}
    return {**about, "input": found["input"], "output": found["output"], **more}


def before(tool: str, args: Any, **more: Any) -> dict[str, Any]:
    return sent(BEFORE, input={"tool": tool, "sessionID": "sess_0001", "callID": "call_0_0"}, output={"args": args}, **more)


def after(tool: str, output: dict[str, Any], args: Any = None) -> dict[str, Any]:
    about = {"tool": tool, "sessionID": "sess_0001", "callID": "call_0_0", "args": {} if args is None else args}
    return sent(AFTER, input=about, output=output)


def coming(tool: str, args: dict[str, Any]) -> CallComing:
    what = CODEC.decode(BEFORE, before(tool, args)).what
    assert isinstance(what, CallComing)
    return what


def output_of(payload: dict[str, Any]) -> ToolOutput:
    what = CODEC.decode(AFTER, payload).what
    assert isinstance(what, CallDone)
    return what.output


ECHO = ToolCall("call_0_0", "bash", COMMAND)
RESULT = {"title": COMMAND["command"], "metadata": {"output": "treasure\n", "exit": 0, "truncated": False}, "output": "treasure\n"}
CALLS: dict[str, dict[str, Any]] = {
    PROMPT: sent(PROMPT),
    BEFORE: sent(BEFORE),
    AFTER: sent(AFTER),
    "experimental.session.compacting": sent("experimental.session.compacting", PROMPT),
    "session.compacted": sent("session.compacted", "event_session.idle"),
    "session.idle": sent("session.idle", "event_session.idle", reply="Found it."),
    "session.deleted": sent("session.deleted", "event_session.idle"),
}
WHATS: dict[str, What] = {
    PROMPT: PromptGiven('"Do the thing."'),
    BEFORE: CallComing(ECHO, "bash", COMMAND),
    AFTER: CallDone(ECHO, "bash", shell_output("treasure\n", content="treasure\n"), RESULT),
    "experimental.session.compacting": Compacting("automatic"),
    "session.compacted": Starting("compacted"),
    "session.idle": Stopping("Found it."),
    "session.deleted": Ending(),
}


def test_it_is_the_codec_of_opencode() -> None:
    codec = codec_of("opencode")
    assert codec.name == "opencode"
    assert isinstance(codec, OpenCode)


def test_every_installed_event_is_tested() -> None:
    assert {hooked.name for hooked in CODEC.hooked} == CALLS.keys()


@pytest.mark.parametrize("event", CALLS)
def test_every_call_decodes(event: str) -> None:
    arrived = CODEC.decode(event, CALLS[event])
    assert arrived.what == WHATS[event]
    assert (arrived.event, arrived.session, arrived.subagent, arrived.workspace) == (event, "sess_0001", "", "/home/dev/project")
    assert arrived.model == ("scripted" if event == PROMPT else "")
    assert CODEC.decode("", CALLS[event]) == arrived


@pytest.mark.parametrize("event", ["chat.params", "permission.ask", "something.new"])
def test_an_event_that_is_not_known_is_other(event: str) -> None:
    assert CODEC.decode(event, CALLS[BEFORE]).what == Other()


def test_a_subagent_is_prompted_by_the_model_and_ends_as_a_subagent() -> None:
    prompted = CODEC.decode(PROMPT, sent(PROMPT, subagent="ses_2"))
    assert (prompted.subagent, prompted.what) == ("ses_2", Starting())
    assert CODEC.decode("session.idle", CALLS["session.idle"] | {"subagent": "ses_2"}).what == SubagentDone("Found it.")


def test_what_opencode_adds_to_a_prompt_is_not_the_users() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "file"}, {"type": "text", "text": "a file", "synthetic": True}]
    parts.append({"type": "text", "text": "two", "synthetic": False})
    assert CODEC.decode(PROMPT, sent(PROMPT, output={"parts": parts})).what == PromptGiven("one\ntwo")


@pytest.mark.parametrize(
    ("tool", "args", "ours", "input"),
    [
        ("bash", {"command": "ls", "timeout": 5, "workdir": "/"}, "bash", {"command": "ls", "timeout_ms": 5, "workdir": "/"}),
        ("read", {"filePath": "a", "offset": 1}, "read", {"path": "a", "offset": 1}),
        ("write", {"filePath": "a", "content": "x"}, "write", {"path": "a", "content": "x"}),
        (
            "edit",
            {"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": True},
            "edit",
            {"path": "a", "old": "x", "new": "y", "replaceAll": True},
        ),
        ("glob", {"pattern": "*", "path": "src"}, "glob", {"pattern": "*", "path": "src"}),
        ("task", {"prompt": "dig", "subagent_type": "general"}, "agent", {"task": "dig", "subagent_type": "general"}),
        ("tiny_echo", {"text": "hi"}, "mcp__tiny__echo", {"text": "hi"}),
        ("tiny_two_echo", {}, "mcp__tiny_two__echo", {}),
        ("todowrite", {"todos": []}, "todowrite", {"todos": []}),
    ],
)
def test_tools_have_our_names(tool: str, args: dict[str, Any], ours: str, input: dict[str, Any]) -> None:
    call = coming(tool, args).call
    assert (call.name, call.input) == (ours, input)


def test_a_patch_is_a_call_for_every_file() -> None:
    what = coming("apply_patch", {"patchText": PATCH})
    assert [(call.name, call.input["path"]) for call in (what.call, *what.more)] == [("write", "new.txt"), ("write", ".env")]
    done = CODEC.decode(AFTER, after("apply_patch", {"output": "Success."}, {"patchText": PATCH})).what
    assert isinstance(done, CallDone)
    assert (done.call, done.more) == (what.call, what.more)


@pytest.mark.parametrize("args", [{}, {"patchText": ""}, {"patchText": 7}, {"patchText": "*** Begin Patch\n*** End Patch"}])
def test_a_patch_that_cannot_be_read_is_invalid(args: dict[str, Any]) -> None:
    with pytest.raises(PayloadInvalid):
        coming("apply_patch", args)


def test_two_paths_for_one_file_are_invalid() -> None:
    with pytest.raises(PayloadInvalid, match="path"):
        coming("write", {"filePath": "a", "path": "b"})


@pytest.mark.parametrize(
    ("payload", "output"),
    [
        (after("bash", {"output": "a", "metadata": {"output": "a", "exit": 3}}), shell_output("a", exit_code=3, content="a")),
        (after("bash", {"output": "a", "metadata": {"exit": None}}), shell_output("a", content="a")),
        (after("bash", {"output": "a"}), ToolOutput("a")),
        (after("read", {"output": "a", "metadata": {"exit": 3}}), ToolOutput("a")),
        (after("tiny_echo", {"content": [{"type": "text", "text": "a"}, {"type": "image"}]}), ToolOutput("a\n[image]")),
    ],
)
def test_what_a_call_came_to(payload: dict[str, Any], output: ToolOutput) -> None:
    assert output_of(payload) == output


OTHER_INPUT = "Hooks want this call to be made with another input, which they cannot set in OpenCode. Make it again with this one: "
ENCODED: list[tuple[str, str, Answer, dict[str, Any]]] = [
    ("context at a prompt", PROMPT, AddText("C"), {"context": "C"}),
    ("blank context", PROMPT, AddText(" "), {}),
    ("prompt refused", PROMPT, Refused("R"), {"block": "R"}),
    ("prompt refused, no reason", PROMPT, Refused(""), {"block": "A hook refused this."}),
    ("call refused", BEFORE, Refused("R"), {"deny": "R"}),
    (
        "call replaced",
        BEFORE,
        Refused("42", replaced=True),
        {"deny": "The tool was not run; a hook answered in its place. This is the result:\n42"},
    ),
    (
        "user asked",
        BEFORE,
        AskUser("W."),
        {"deny": "W. OpenCode lets no hook ask, so this was not run. The user can allow it by a rule of Treblehook."},
    ),
    (
        "call rewritten",
        BEFORE,
        RunRewritten({"command": "ls", "timeout_ms": 5}),
        {"args": {"command": "ls", "timeout": 5}},
    ),
    (
        "two keys that would be one",
        BEFORE,
        RunRewritten({"timeout": 1, "timeout_ms": 2}),
        {"deny": f'{OTHER_INPUT}{{"timeout":1,"timeout_ms":2}}'},
    ),
    ("patched", AFTER, Patched("new", is_error=False), {"content": "new", "is_error": False}),
    ("patched by an error", AFTER, Patched("bad", is_error=True), {"content": "bad", "is_error": True}),
    ("context after a compaction", "session.compacted", AddText("C"), {"context": "C"}),
    ("sent back", "session.idle", GoOn("G"), {}),
    ("compaction", "experimental.session.compacting", NO_OPINION, {}),
]


@pytest.mark.parametrize(("event", "answer", "wire"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_an_answer_is_what_the_plugin_honours(event: str, answer: Answer, wire: dict[str, Any]) -> None:
    encoded = CODEC.encode(CODEC.decode(event, CALLS[event]), answer)
    assert encoded == wire
    assert honours(SHAPES, event, encoded)


def test_a_command_that_failed_stays_no_error_to_opencode() -> None:
    """OpenCode would make an exception of it; only what a hook has made an error is one."""
    failed = CODEC.decode(AFTER, after("bash", {"output": "a", "metadata": {"output": "a", "exit": 3}}))
    assert CODEC.encode(failed, Patched("b", is_error=True)) == {"content": "b", "is_error": False}


@given(rewritten=st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_a_patch_is_never_rewritten(rewritten: dict[str, Any]) -> None:
    assert set(CODEC.encode(CODEC.decode(BEFORE, before("apply_patch", {"patchText": PATCH})), RunRewritten(rewritten))) == {"deny"}


@pytest.mark.parametrize("event", [*CALLS, "something.new", ""])
def test_what_can_be_stopped_is(event: str) -> None:
    assert CODEC.refuse(event, "R") == {PROMPT: {"block": "R"}, BEFORE: {"deny": "R"}}.get(event, {})


@given(event=st.sampled_from(list(CALLS)), answer=ANSWERS)
def test_whatever_hooks_answer_is_said_in_a_listed_shape(event: str, answer: Answer) -> None:
    encoded = CODEC.encode(CODEC.decode(event, CALLS[event]), answer)
    assert honours(SHAPES, event, encoded)
    assert json.loads(json.dumps(encoded)) == encoded


@given(event=st.sampled_from([*CALLS, ""]), reason=TEXTS)
def test_every_refusal_is_in_a_listed_shape(event: str, reason: str) -> None:
    assert honours(SHAPES, event, CODEC.refuse(event, reason))


KEYS = st.sampled_from(
    ["path", "filePath", "old", "oldString", "newString", "content", "command", "timeout", "timeout_ms", "task", "prompt"]
)


@given(tool=st.sampled_from(["bash", "read", "write", "edit", "task", "tiny_echo", "x"]), args=st.dictionaries(KEYS, JSON, max_size=5))
def test_an_input_that_nobody_rewrites_comes_back_as_it_was(tool: str, args: dict[str, Any]) -> None:
    try:
        arrived = CODEC.decode(BEFORE, before(tool, args))
    except PayloadInvalid:
        return
    assert isinstance(arrived.what, CallComing)
    assert CODEC.encode(arrived, RunRewritten(arrived.what.call.input)) == {"args": args}


@given(data=st.data(), event=st.sampled_from(list(CALLS)))
def test_a_spoiled_payload_is_invalid_or_decodes(data: st.DataObject, event: str) -> None:
    try:
        answer = CODEC.encode(CODEC.decode(event, data.draw(spoiled(CALLS[event]))), Refused("R"))
    except PayloadInvalid as invalid:
        answer = CODEC.refuse(event, str(invalid))
    assert honours(SHAPES, event, answer)


@pytest.mark.parametrize("place", [("session",), ("workspace",), ("input",), ("output",), ("input", "tool"), ("output", "args")])
def test_a_call_that_lacks_what_a_guard_looks_at_is_invalid(place: tuple[str, ...]) -> None:
    payload = json.loads(json.dumps(CALLS[BEFORE]))
    holder = payload if len(place) == 1 else payload[place[0]]
    del holder[place[-1]]
    with pytest.raises(PayloadInvalid, match=place[-1]):
        CODEC.decode(BEFORE, payload)
