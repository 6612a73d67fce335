"""What functions are given and may answer (vera.md 3, 5.6; cases 53, 64, 164, 172, 177)."""

import json
from typing import Any

import pytest

from tests.support.extension_rig import ExtensionRig
from tests.support.needs import needs
from tests.support.sample_events import SAMPLES, ending, finished, proposed, started, submitted
from treblehook.contracts.vera.payloads import PAYLOADS
from treblehook.engine import Ended, Mode, OnFailure, Tier
from treblehook.lifecycle import AddContext, Block, Continue, Event, Replace, Rewrite, TurnComplete

pytestmark = needs("node")

CALLS = {
    "session_start": "registerSessionStart",
    "pre_turn": "registerPreTurn",
    "pre_compact": "registerPreCompact",
    "pre_tool_use": "registerPreToolUse",
    "post_tool_use": "registerPostToolUse",
    "turn_ending": "registerTurnEnding",
    "turn_finished": "registerTurnFinished",
    "subagent_finished": "registerSubagentFinished",
    "session_end": "registerSessionEnd",
}
EVENTS: dict[str, Event] = {
    **SAMPLES,
    "turn_finished": TurnComplete(session="s", workspace="/w", outcome="aborted", turns=2, prompt="p", reply="r"),
}
OBSERVERS = ("pre_compact", "turn_finished", "subagent_finished", "session_end")


def returns(phase: str, answer: str) -> str:
    """An `activate` that registers a function which returns `answer`, a JavaScript expression."""
    return f"vera.hooks.{CALLS[phase]}((given) => ({answer}));"


async def decided(rig: ExtensionRig, phase: str, answer: str) -> Any:
    """What a function that returns `answer` decides; the error where it does not."""
    rig.js("one", returns(phase, answer))
    session = await rig.session()
    await session.fire(EVENTS[phase])
    [call] = session.calls
    return call.decision if call.error is None else call.error


@pytest.mark.parametrize("phase", CALLS)
async def test_a_function_gets_the_payload_that_executables_get(rig: ExtensionRig, phase: str) -> None:
    rig.js("one", f"vera.hooks.{CALLS[phase]}((given) => {{ keep(given); given.type = 'changed'; return {{ power: 'observe' }}; }});" * 2)
    session = await rig.session()

    await session.fire(EVENTS[phase])
    await session.settle()

    assert rig.kept("one") == [json.loads(json.dumps(PAYLOADS[phase](EVENTS[phase])))] * 2
    assert session.ends == [("one", Ended.PASSED)] * 2


@pytest.mark.parametrize(
    ("phase", "answer", "decision"),
    [
        ("pre_tool_use", "{ power: 'mutate', input: { a: 1 } }", Rewrite(input={"a": 1})),
        ("pre_tool_use", "{ power: 'block', reason: 'no' }", Block("no")),
        ("pre_tool_use", "{ power: 'replace', result: { content: [{ type: 'text', text: 't' }], isError: true } }", Replace("t", True)),
        ("pre_tool_use", "{ power: 'observe', reason: 'x', zzz: 1 }", None),
        ("pre_tool_use", "{ power: 'block', reason: 'no', other: undefined }", Block("no")),
        ("pre_tool_use", "Promise.resolve({ power: 'block', reason: 'later' })", Block("later")),
        ("pre_tool_use", "Object.assign(Object.create(null), { power: 'block', reason: 'bare' })", Block("bare")),
        ("post_tool_use", "{ power: 'mutate', patch: { isError: true } }", Rewrite(is_error=True)),
        ("post_tool_use", "{ power: 'mutate', patch: { content: [{ type: 'text', text: 't' }] } }", Rewrite(content="t")),
        ("session_start", "{ power: 'mutate', context: 'c' }", AddContext("c")),
        ("pre_turn", "{ power: 'mutate', context: 'c', display: 'd' }", AddContext("c", "d")),
        (
            "pre_turn",
            "{ power: 'mutate', tools: ['read'], model: 'm', reasoningEffort: 'high' }",
            Rewrite(tools=("read",), model="m", effort="high"),
        ),
        ("pre_turn", "{ power: 'mutate', context: undefined, display: undefined }", Rewrite()),
        ("pre_turn", "{ power: 'block', reason: 'no' }", Block("no")),
        ("turn_ending", "{ power: 'continue', context: 'c' }", Continue("c")),
    ],
)
async def test_answers(rig: ExtensionRig, phase: str, answer: str, decision: Any) -> None:
    assert await decided(rig, phase, answer) == decision


@pytest.mark.parametrize(
    ("phase", "answer", "error"),
    [
        ("pre_turn", "undefined", "returned nothing"),
        ("pre_turn", "Promise.resolve()", "returned nothing"),
        ("pre_turn", "null", "returned null; it must be an object"),
        ("pre_turn", "'observe'", 'returned "observe"; it must be an object'),
        ("pre_turn", "[]", "returned []; it must be an object"),
        ("pre_turn", "{}", "gave no power"),
        ("pre_turn", "{ power: 'allow' }", "its power is"),
        ("pre_turn", "{ power: 'continue', context: 'x' }", "its power is"),
        ("pre_turn", "{ power: 'mutate', context: null }", "its context is null"),
        ("pre_turn", "{ power: 'mutate', model: '' }", 'its model is ""'),
        ("pre_tool_use", "{ power: 'mutate', input: { n: NaN } }", "returned NaN at the answer.input.n"),
        ("pre_tool_use", "{ power: 'mutate', input: { n: [1, -Infinity] } }", "returned -Infinity at the answer.input.n[1]"),
        ("pre_tool_use", "{ power: 'mutate', input: { d: new Date(0) } }", "returned a Date at the answer.input.d"),
        ("pre_tool_use", "{ power: 'mutate', input: new Map() }", "returned a Map at the answer.input"),
        ("pre_tool_use", "{ power: 'mutate', input: { f() {} } }", "which is not JSON"),
        ("pre_tool_use", "{ power: 'mutate', input: { n: 1n } }", "which is not JSON"),
        ("pre_tool_use", "{ power: 'mutate', input: { list: [undefined] } }", "returned undefined at the answer.input.list[0]"),
        ("pre_tool_use", "(() => { const a = { power: 'mutate' }; a.input = a; return a; })()", "a value that holds itself"),
        ("pre_tool_use", "JSON.parse('['.repeat(300) + ']'.repeat(300))", "nested deeper than"),
        ("turn_ending", "{ power: 'continue', context: '' }", 'its context is ""'),
        ("turn_ending", "{ power: 'block', reason: 'x' }", "its power is"),
        ("session_start", "{ power: 'block', reason: 'x' }", "its power is"),
        ("post_tool_use", "{ power: 'block', reason: 'x' }", "its power is"),
    ],
)
async def test_what_is_no_answer_is_ignored(rig: ExtensionRig, phase: str, answer: str, error: str) -> None:
    assert error in await decided(rig, phase, answer)


BIG = "'x'.repeat(70000)"


@pytest.mark.parametrize(
    ("phase", "answer", "part"),
    [
        ("pre_tool_use", f"{{ power: 'mutate', input: {{ a: {BIG} }} }}", "input"),
        ("pre_tool_use", f"{{ power: 'block', reason: {BIG} }}", "reason"),
        ("pre_tool_use", f"{{ power: 'replace', result: {{ content: [{{ type: 'text', text: {BIG} }}], isError: false }} }}", "result"),
        ("post_tool_use", f"{{ power: 'mutate', patch: {{ content: [{{ type: 'text', text: {BIG} }}] }} }}", "patch"),
        ("pre_turn", f"{{ power: 'mutate', tools: [{BIG}] }}", "tools"),
        ("pre_turn", f"{{ power: 'block', reason: {BIG} }}", "reason"),
    ],
)
async def test_case_053_a_part_of_70_kb_is_ignored(rig: ExtensionRig, phase: str, answer: str, part: str) -> None:
    error = await decided(rig, phase, answer)

    assert error.startswith(f"its {part} has 700")
    assert error.endswith("65536 are allowed")


async def test_a_part_of_exactly_64_kib_is_taken(rig: ExtensionRig) -> None:
    assert await decided(rig, "pre_tool_use", "{ power: 'block', reason: 'x'.repeat(65534) }") == Block("x" * 65534)


@pytest.mark.parametrize("size", [131072, 131073])
@pytest.mark.parametrize("phase", ["session_start", "pre_turn", "turn_ending"])
async def test_context_may_have_128_kib_and_no_more(rig: ExtensionRig, phase: str, size: int) -> None:
    power = "continue" if phase == "turn_ending" else "mutate"

    decision = await decided(rig, phase, f"{{ power: '{power}', context: 'ä' + 'x'.repeat({size - 2}) }}")

    if size > 131072:
        assert decision == "its context has 131073 bytes; 131072 are allowed"
    else:
        assert isinstance(decision, AddContext | Continue)


async def test_half_a_surrogate_pair_becomes_a_replacement_character(rig: ExtensionRig) -> None:
    assert await decided(rig, "pre_tool_use", "{ power: 'block', reason: 'a\\ud83d' }") == Block("a\ufffd")


@pytest.mark.parametrize("display", ["'x'.repeat(201)", "'a\\nb'", "5"])
async def test_case_177_a_bad_display_makes_the_whole_answer_invalid(rig: ExtensionRig, display: str) -> None:
    rig.js("one", returns("pre_turn", f"{{ power: 'mutate', context: 'c', tools: [], display: {display} }}"))

    outcome = await rig.fire(submitted())

    assert (outcome.contributions, outcome.value) == ((), submitted())


async def test_case_064_the_patch_of_an_executable_stays_where_a_function_throws(rig: ExtensionRig) -> None:
    answer = {"power": "mutate", "patch": {"content": [{"type": "text", "text": "patched"}]}}
    rig.hook("post_tool_use", "patch", f"cat >/dev/null; echo '{json.dumps(answer)}'")
    rig.js("bad", "vera.hooks.registerPostToolUse(() => { throw new Error('no'); });")

    assert (await rig.fire(finished())).value.content == "patched"


@pytest.mark.parametrize("phase", [phase for phase in CALLS if phase != "turn_finished"])
async def test_case_164_executables_of_config_json_come_before_functions(rig: ExtensionRig, phase: str) -> None:
    rig.js("b", returns(phase, "{ power: 'observe' }") * 2)
    rig.js("a", returns(phase, "{ power: 'observe' }"))
    for name in ("z", "y"):
        rig.hook(phase, name, 'cat >/dev/null; echo \'{"power":"observe"}\'')
    session = await rig.session()

    await session.fire(EVENTS[phase])
    await session.settle()

    planned = [handler.name for handler in session.handlers if handler.event is type(EVENTS[phase])]
    assert planned == [call.handler.name for call in session.calls] == ["z", "y", "a", "b", "b"]


async def test_each_function_sees_what_the_one_before_made(rig: ExtensionRig) -> None:
    rig.js("a", "vera.hooks.registerPreToolUse(() => ({ power: 'mutate', input: { n: 1 } }));")
    rig.js("b", "vera.hooks.registerPreToolUse(({ toolCall }) => ({ power: 'mutate', input: { n: toolCall.input.n + 1 } }));")

    assert (await rig.fire(proposed())).value.call.input == {"n": 2}


async def test_case_172_a_function_is_known_by_its_extensions_id(rig: ExtensionRig) -> None:
    rig.js("example.lookout", returns("pre_turn", "{ power: 'mutate', context: 'c' }"), name="folder")

    [contribution] = (await rig.fire(submitted())).contributions

    assert contribution.handler.name == "example.lookout"
    assert contribution.handler.origin.file.endswith("folder/index.mjs")


async def test_session_start_functions_count_after_the_executables(rig: ExtensionRig) -> None:
    rig.hook("session_start", "quiet", 'cat >/dev/null; echo \'{"power":"observe"}\'')
    rig.js("one", returns("session_start", "{ power: 'mutate', context: 'c' }"))

    [contribution] = (await rig.fire(started())).contributions

    assert contribution.position == 2


async def test_all_handlers_fail_open_in_the_shared_lane(rig: ExtensionRig) -> None:
    rig.js("all", "".join(returns(phase, "{}") for phase in CALLS))

    handlers = {handler.origin.event: handler for handler in (await rig.session()).handlers}

    assert {handler.on_failure for handler in handlers.values()} == {OnFailure.OPEN}
    assert {handler.tier for handler in handlers.values()} == {Tier.EXTENSION}
    assert {handler.lane.name for handler in handlers.values() if handler.lane} == {"vera"}
    assert {name: handler.timeout for name, handler in handlers.items()} == {
        "session_start": 60.0,
        **dict.fromkeys(("pre_turn", "pre_tool_use", "post_tool_use", "turn_ending")),
        **dict.fromkeys(OBSERVERS, 10.0),
    }


@pytest.mark.parametrize(
    ("spawned", "awaited", "missing"),
    [(False, False, set()), (True, False, set()), (True, True, {"pre_compact", "session_end", "turn_finished"})],
)
async def test_which_phases_a_session_has(rig: ExtensionRig, spawned: bool, awaited: bool, missing: set[str]) -> None:
    rig.js("all", "".join(returns(phase, "{}") for phase in CALLS))

    session = await rig.session(spawned=spawned, awaited=awaited)

    assert {handler.origin.event for handler in session.handlers} == set(CALLS) - missing


async def test_modes_are_by_the_extensions_id(rig: ExtensionRig) -> None:
    rig.settings('[hooks."watched"]\nmode = "report"\n[hooks."silent"]\nmode = "off"\n')
    for name in ("watched", "silent"):
        rig.js(name, "vera.hooks.registerPreToolUse(() => { keep(1); return { power: 'block', reason: 'never' }; });")
    session = await rig.session()

    assert (await session.fire(proposed())).decision is None

    assert {handler.name: handler.mode for handler in session.handlers} == {"watched": Mode.REPORT, "silent": Mode.OFF}
    assert (rig.kept("watched"), rig.kept("silent")) == ([1], [])


@pytest.mark.parametrize("phase", OBSERVERS)
async def test_case_173_a_failed_observer_is_one_line_with_the_extensions_id(rig: ExtensionRig, phase: str) -> None:
    rig.js("one", f"vera.hooks.{CALLS[phase]}(() => {{ throw new Error('no'); }});{returns(phase, '5')}")
    session = await rig.session()

    await session.fire(EVENTS[phase])
    await session.settle()

    [line] = rig.log()
    assert line.pop("message").startswith("Error: no (")
    assert line == {"type": f"{phase}_hook_failed", "level": "warn", "extensionId": "one"}


async def test_a_failed_session_start_function_is_one_line_with_the_extensions_id(rig: ExtensionRig) -> None:
    rig.js("one", "vera.hooks.registerSessionStart(() => 5);")

    await rig.fire(started())

    assert rig.log() == [
        {
            "type": "session_start_hook_failed",
            "level": "warn",
            "sessionId": started().session,
            "reason": "start",
            "index": 1,
            "error": "returned 5; it must be an object",
            "extensionId": "one",
        }
    ]


@pytest.mark.parametrize("outcome", ["completed", "error", "aborted"])
async def test_turn_finished_is_told_of_every_outcome(rig: ExtensionRig, outcome: Any) -> None:
    rig.js("one", "vera.hooks.registerTurnFinished(keep);")
    session = await rig.session()

    await session.fire(TurnComplete(session="s", workspace="/w", spawned=True, outcome=outcome, turns=3, prompt="p", reply="r"))
    await session.settle()

    assert rig.kept("one") == [
        {
            "type": "turn_finished",
            "sessionId": "s",
            "workspace": "/w",
            "outcome": outcome,
            "turns": 3,
            "spawned": True,
            "prompt": "p",
            "reply": "r",
        }
    ]


async def test_a_turn_ending_function_that_continues_stops_the_chain(rig: ExtensionRig) -> None:
    rig.js("a", returns("turn_ending", "{ power: 'continue', context: 'map', display: 'Keep digging' }"))
    rig.js("b", "vera.hooks.registerTurnEnding(keep);")

    assert (await rig.fire(ending())).decision == Continue("map", "Keep digging")
    assert rig.kept("b") == []
