"""pi: what its extension sends decodes to what it means, and every answer is one that the extension puts into effect."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.drawn import ANSWERS, INPUTS, JSON, TEXTS, spoiled
from tests.gateway.honoured import honours
from tests.gateway.honoured_plugins import HONOURED
from tests.gateway.samples import CAPTURES
from treblehook.gateway.agents import codec_of
from treblehook.gateway.agents.pi import Pi
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
    What,
)
from treblehook.host.outside import shell_output
from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall

CODEC: Codec = Pi()
SHAPES = HONOURED["pi"]
COMMAND = {"command": "echo treasure > mark; cat mark"}


def sent(event: str, **more: Any) -> dict[str, Any]:
    """A call as the extension makes it, of what pi was seen to give; `more` is in the event."""
    file = CAPTURES / "pi" / f"{event}.json"
    given = json.loads(file.read_text()) if file.exists() else {"type": event}
    about = {"event": event, "session": "sess_0001", "workspace": "/home/dev/project", "model": "scripted"}
    return {**about, "input": {**given, **more}}


def coming(tool: str, given: Any) -> CallComing:
    what = CODEC.decode("tool_call", sent("tool_call", toolName=tool, input=given)).what
    assert isinstance(what, CallComing)
    return what


def output_of(**given: Any) -> ToolOutput:
    what = CODEC.decode("tool_result", sent("tool_result", **given)).what
    assert isinstance(what, CallDone)
    return what.output


ECHO = ToolCall("toolu_0_0", "bash", COMMAND)
RESULT = [{"type": "text", "text": "treasure\n"}]
# The extension sends these two, which were not seen headless, with what its API has them hold.
TYPED = {"command": "rm treasure"}
CALLS: dict[str, dict[str, Any]] = {
    event: sent(event) for event in ("session_start", "input", "tool_call", "tool_result", "agent_end", "session_shutdown")
} | {
    "user_bash": sent("user_bash", **TYPED),
    "session_before_compact": sent("session_before_compact"),
    "session_compact": sent("session_compact"),
}
WHATS: dict[str, What] = {
    "session_start": Starting("start"),
    "input": PromptGiven("Do the thing."),
    "tool_call": CallComing(ECHO, "bash", COMMAND),
    "tool_result": CallDone(ECHO, "bash", shell_output("treasure\n", content="treasure\n"), RESULT),
    "session_before_compact": Compacting("automatic"),
    "session_compact": Starting("compacted"),
    "agent_end": Stopping("Found it."),
    "session_shutdown": Ending(),
}


def test_it_is_the_codec_of_pi() -> None:
    codec = codec_of("pi")
    assert codec.name == "pi"
    assert isinstance(codec, Pi)


def test_every_installed_event_is_tested() -> None:
    assert {hooked.name for hooked in CODEC.hooked} == CALLS.keys()


@pytest.mark.parametrize("event", WHATS)
def test_every_call_decodes(event: str) -> None:
    arrived = CODEC.decode(event, CALLS[event])
    assert arrived.what == WHATS[event]
    assert (arrived.event, arrived.session, arrived.subagent) == (event, "sess_0001", "")
    assert (arrived.workspace, arrived.model) == ("/home/dev/project", "scripted")
    assert CODEC.decode("", CALLS[event]) == arrived


def test_a_command_that_the_user_types_is_judged_as_one_of_bash() -> None:
    what = CODEC.decode("user_bash", CALLS["user_bash"]).what
    assert isinstance(what, CallComing)
    assert (what.call.name, what.call.input, what.more) == ("bash", TYPED, ())
    assert what.call.id


@pytest.mark.parametrize("event", ["turn_start", "context", "something_new"])
def test_an_event_that_is_not_known_is_other(event: str) -> None:
    assert CODEC.decode(event, CALLS["tool_call"]).what == Other()


@pytest.mark.parametrize(
    ("reason", "what"),
    [("new", Starting()), ("resume", Starting("resume")), ("fork", Starting("resume")), ("reload", Other()), ("new word", Starting())],
)
def test_a_start_says_what_begins(reason: str, what: What) -> None:
    assert CODEC.decode("session_start", sent("session_start", reason=reason)).what == what


def test_an_extension_that_is_loaded_anew_ends_nothing() -> None:
    assert CODEC.decode("session_shutdown", sent("session_shutdown", reason="reload")).what == Other()


def test_what_an_extension_says_is_no_prompt() -> None:
    assert CODEC.decode("input", sent("input", source="extension")).what == Other()


def test_a_compaction_that_the_user_asks_for() -> None:
    assert CODEC.decode("session_before_compact", sent("session_before_compact", customInstructions="short")).what == Compacting("manual")


@pytest.mark.parametrize(
    ("tool", "given", "ours", "input"),
    [
        ("bash", {"command": "ls", "timeout": 5}, "bash", {"command": "ls", "timeout": 5}),
        ("read", {"path": "@a b", "limit": 1}, "read", {"path": "a b", "limit": 1}),
        ("read", {"path": "@@a"}, "read", {"path": "@a"}),
        ("write", {"path": "a\u00a0b\u3000c", "content": "\u00a0"}, "write", {"path": "a b c", "content": "\u00a0"}),
        ("find", {"pattern": "*", "path": "@src"}, "glob", {"pattern": "*", "path": "src"}),
        ("grep", {"pattern": "x"}, "grep", {"pattern": "x"}),
        ("mine", {"path": "@a"}, "mine", {"path": "@a"}),
        ("edit", {"path": "@a", "edits": [{"oldText": "x", "newText": "y"}]}, "edit", {"path": "a", "old": "x", "new": "y"}),
    ],
)
def test_tools_have_our_names_and_paths_are_what_pi_opens(tool: str, given: dict[str, Any], ours: str, input: dict[str, Any]) -> None:
    call = coming(tool, given).call
    assert (call.name, call.input) == (ours, input)


def test_an_edit_of_several_places_is_several_calls() -> None:
    what = coming("edit", {"path": "a", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "z", "newText": ""}]})
    assert (what.call, what.more) == (
        ToolCall("toolu_0_0", "edit", {"path": "a", "old": "x", "new": "y"}),
        (ToolCall("toolu_0_0-2", "edit", {"path": "a", "old": "z", "new": ""}),),
    )


@pytest.mark.parametrize("edits", [None, [], {}, "x", [1]])
def test_an_edit_without_places_is_invalid(edits: Any) -> None:
    with pytest.raises(PayloadInvalid, match="edits"):
        coming("edit", {"path": "a", "edits": edits})


def told(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


@pytest.mark.parametrize(
    ("given", "output"),
    [
        (
            {"content": told("oops\n\nCommand exited with code 3"), "isError": True},
            shell_output("oops", exit_code=3, content="oops\n\nCommand exited with code 3"),
        ),
        (
            {"content": told("Command timed out after 5 seconds"), "isError": True},
            ToolOutput("Command timed out after 5 seconds", is_error=True),
        ),
        ({"content": told("Command exited with code 3")}, shell_output("Command exited with code 3", content="Command exited with code 3")),
        ({"toolName": "read", "content": [*told("a"), {"type": "image"}]}, ToolOutput("a\n[image]")),
        ({"toolName": "read", "content": told("no such file"), "isError": True}, ToolOutput("no such file", is_error=True)),
    ],
)
def test_what_a_call_came_to(given: dict[str, Any], output: ToolOutput) -> None:
    assert output_of(**given) == output


@pytest.mark.parametrize("messages", [None, "x", 7])
def test_an_end_without_messages_is_invalid(messages: Any) -> None:
    with pytest.raises(PayloadInvalid, match="messages"):
        CODEC.decode("agent_end", sent("agent_end", messages=messages))


OTHER_INPUT = "Hooks want this call to be made with another input, which they cannot set in pi. Make it again with this one: "
ENCODED: list[tuple[str, str, Answer, dict[str, Any]]] = [
    ("context at the start", "session_start", AddText("C"), {"context": "C"}),
    ("session refused", "session_start", Refused("R"), {}),
    ("context at a prompt", "input", AddText("C"), {"context": "C"}),
    ("blank context", "input", AddText("\n"), {}),
    ("prompt refused", "input", Refused(" "), {"block": "A hook refused this."}),
    ("call refused", "tool_call", Refused("R"), {"deny": "R"}),
    (
        "call replaced",
        "tool_call",
        Refused("42", replaced=True),
        {"deny": "The tool was not run; a hook answered in its place. This is the result:\n42"},
    ),
    ("user asked", "tool_call", AskUser("W"), {"ask": "W"}),
    (
        "user asked about another input",
        "tool_call",
        AskUser("", {"command": "ls"}),
        {"ask": "A hook wants you asked.", "args": {"command": "ls"}},
    ),
    ("call rewritten", "tool_call", RunRewritten({"command": "ls"}), {"args": {"command": "ls"}}),
    ("the user's command refused", "user_bash", Refused("R"), {"deny": "R"}),
    ("the user asked about that", "user_bash", AskUser("W"), {"ask": "W"}),
    ("the user's command rewritten", "user_bash", RunRewritten({"command": "ls"}), {"deny": f'{OTHER_INPUT}{{"command":"ls"}}'}),
    ("asked, and rewritten", "user_bash", AskUser("W", {"command": "ls"}), {"deny": f'{OTHER_INPUT}{{"command":"ls"}}'}),
    ("patched", "tool_result", Patched("", is_error=False), {"content": "", "is_error": False}),
    ("patched by an error", "tool_result", Patched("bad", is_error=True), {"content": "bad", "is_error": True}),
    ("context after a compaction", "session_compact", AddText("C"), {"context": "C"}),
    ("sent back", "agent_end", GoOn("G"), {"continue": "G"}),
    ("sent back without a word", "agent_end", GoOn(""), {"continue": "A hook wants you to go on."}),
    ("end", "session_shutdown", NO_OPINION, {}),
]


@pytest.mark.parametrize(("event", "answer", "wire"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_an_answer_is_what_the_extension_honours(event: str, answer: Answer, wire: dict[str, Any]) -> None:
    encoded = CODEC.encode(CODEC.decode(event, CALLS[event]), answer)
    assert encoded == wire
    assert honours(SHAPES, event, encoded)


EDIT = {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}


def rewritten(tool: str, given: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    return CODEC.encode(CODEC.decode("tool_call", sent("tool_call", toolName=tool, input=given)), RunRewritten(wanted))


def test_an_edit_of_one_place_runs_rewritten() -> None:
    assert rewritten("edit", EDIT, {"path": "b", "old": "x", "new": "z"}) == {
        "args": {"path": "b", "edits": [{"oldText": "x", "newText": "z"}]}
    }


@pytest.mark.parametrize(
    ("tool", "given", "wanted"),
    [
        ("edit", {"path": "a", "edits": EDIT["edits"] * 2}, {"path": "a", "old": "x", "new": "z"}),
        ("edit", EDIT, {"path": "a", "old": "x"}),
        ("edit", EDIT, {"path": "a", "old": "x", "new": "y", "edits": []}),
        ("edit", EDIT, {"path": "a", "old": "x", "new": "y", "newText": "z"}),
        # Pi would open another file than the one that the gate has seen.
        ("read", {"path": "a"}, {"path": "@/etc/shadow"}),
        ("read", {"path": "a"}, {"path": "a\u00a0b"}),
    ],
)
def test_a_rewrite_that_pi_would_read_otherwise_is_denied(tool: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert set(rewritten(tool, given, wanted)) == {"deny"}


@pytest.mark.parametrize("event", [*CALLS, "something_new", ""])
def test_what_can_be_stopped_is(event: str) -> None:
    stops = {"input": {"block": "R"}, "tool_call": {"deny": "R"}, "user_bash": {"deny": "R"}}
    assert CODEC.refuse(event, "R") == stops.get(event, {})


@given(event=st.sampled_from(list(CALLS)), answer=ANSWERS)
def test_whatever_hooks_answer_is_said_in_a_listed_shape(event: str, answer: Answer) -> None:
    encoded = CODEC.encode(CODEC.decode(event, CALLS[event]), answer)
    assert honours(SHAPES, event, encoded)
    assert json.loads(json.dumps(encoded)) == encoded


@given(event=st.sampled_from([*CALLS, ""]), reason=TEXTS)
def test_every_refusal_is_in_a_listed_shape(event: str, reason: str) -> None:
    assert honours(SHAPES, event, CODEC.refuse(event, reason))


@given(wanted=INPUTS | st.fixed_dictionaries({"path": TEXTS, "old": JSON, "new": JSON}))
def test_a_rewritten_edit_is_one_of_pis_or_denied(wanted: dict[str, Any]) -> None:
    said = rewritten("edit", EDIT, wanted)
    if "deny" not in said:
        args = said["args"]
        assert [set(edit) for edit in args["edits"]] == [{"oldText", "newText"}]
        assert coming("edit", args).call.input == wanted


@given(tool=st.sampled_from(["bash", "write", "find", "mine"]), given_=INPUTS)
def test_an_input_that_nobody_rewrites_comes_back_as_pi_reads_it(tool: str, given_: dict[str, Any]) -> None:
    what = coming(tool, given_)
    said = rewritten(tool, given_, what.call.input)
    if "deny" not in said:
        assert said == {"args": what.call.input}
        assert coming(tool, said["args"]).call.input == what.call.input


@given(data=st.data(), event=st.sampled_from(list(CALLS)))
def test_a_spoiled_payload_is_invalid_or_decodes(data: st.DataObject, event: str) -> None:
    try:
        answer = CODEC.encode(CODEC.decode(event, data.draw(spoiled(CALLS[event]))), Refused("R"))
    except PayloadInvalid as invalid:
        answer = CODEC.refuse(event, str(invalid))
    assert honours(SHAPES, event, answer)


@pytest.mark.parametrize("key", ["session", "workspace", "input"])
def test_a_call_of_nobody_is_invalid(key: str) -> None:
    with pytest.raises(PayloadInvalid, match=key):
        CODEC.decode("tool_call", {name: value for name, value in CALLS["tool_call"].items() if name != key})


@pytest.mark.parametrize("key", ["toolCallId", "toolName", "input"])
def test_a_call_that_lacks_what_a_guard_looks_at_is_invalid(key: str) -> None:
    with pytest.raises(PayloadInvalid, match=key):
        CODEC.decode("tool_call", sent("tool_call", **{key: None}))
