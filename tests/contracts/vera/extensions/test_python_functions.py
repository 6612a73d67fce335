"""What Python functions are given and may answer (vera.md 3, 5.6; cases 52, 53, 64, 164, 172, 173, 177, 178)."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.clock import Clock
from tests.support.extension_rig import ExtensionRig
from tests.support.sample_events import SAMPLES, ending, finished, proposed, submitted
from treblehook.contracts.vera.payloads import PAYLOADS
from treblehook.contracts.vera.phases import FUNCTION_PHASES
from treblehook.engine import Ended, Mode, OnFailure
from treblehook.lifecycle import AddContext, Block, Continue, Event, Replace, Rewrite, TurnComplete

EVENTS: dict[str, Event] = {
    **SAMPLES,
    "turn_finished": TurnComplete(session="s", workspace="/w", outcome="aborted", turns=2, prompt="p", reply="r"),
}
OBSERVERS = [name for name, phase in FUNCTION_PHASES.items() if phase.observes]
BIG = "'x' * 70_000"


def returns(phase: str, answer: str) -> str:
    """An `activate` that registers a function which returns `answer`, a Python expression."""
    return f"treblehook.hooks.register_{phase}(lambda given: {answer})\n"


async def decided(rig: ExtensionRig, phase: str, answer: str) -> Any:
    """What a function that returns `answer` decides; the error where it does not."""
    rig.py("one", returns(phase, answer), before="loop = {'power': 'mutate'}\nloop['input'] = loop\nasync def later(value): return value")
    session = await rig.session()
    await session.fire(EVENTS[phase])
    [call] = session.calls
    return call.decision if call.error is None else call.error


@pytest.mark.parametrize("define", ["def", "async def"])
@pytest.mark.parametrize("phase", FUNCTION_PHASES)
async def test_a_function_gets_a_copy_of_the_payload_that_executables_get(rig: ExtensionRig, phase: str, define: str) -> None:
    function = f"{define} hook(given):\n    keep(given)\n    given.clear()\n    return {{'power': 'observe'}}\n"
    rig.py("one", function + f"treblehook.hooks.register_{phase}(hook)\n" * 2)
    session = await rig.session()

    await session.fire(EVENTS[phase])
    await session.settle()

    assert rig.kept("one") == [json.loads(json.dumps(PAYLOADS[phase](EVENTS[phase])))] * 2
    assert session.ends == [("one", Ended.PASSED)] * 2


async def test_nested_values_are_copies_too(rig: ExtensionRig) -> None:
    function = (
        "def hook(given):\n    keep(given['toolCall']['input'])\n    given['toolCall']['input'].clear()\n    return {'power': 'observe'}\n"
    )
    rig.py("one", function + "treblehook.hooks.register_pre_tool_use(hook)\n" * 2)
    event = proposed()

    outcome = await rig.fire(event)

    assert rig.kept("one") == [event.call.input] * 2
    assert outcome.value.call.input == {"command": "rm treasure/chest.yaml"}


@pytest.mark.parametrize(
    ("phase", "answer", "decision"),
    [
        ("pre_tool_use", "{'power': 'mutate', 'input': {'a': 1}}", Rewrite(input={"a": 1})),
        ("pre_tool_use", "{'power': 'block', 'reason': 'no'}", Block("no")),
        ("pre_tool_use", "later({'power': 'block', 'reason': 'later'})", Block("later")),
        ("pre_tool_use", "{'power': 'observe', 'reason': 'x', 'zzz': 1}", None),
        (
            "pre_tool_use",
            "{'power': 'replace', 'result': {'content': ({'type': 'text', 'text': 't'},), 'isError': True}}",
            Replace("t", True),
        ),
        ("post_tool_use", "{'power': 'mutate', 'patch': {'isError': True}}", Rewrite(is_error=True)),
        ("post_tool_use", "{'power': 'mutate', 'patch': {'content': [{'type': 'text', 'text': 't'}]}}", Rewrite(content="t")),
        ("session_start", "{'power': 'mutate', 'context': 'c'}", AddContext("c")),
        ("pre_turn", "{'power': 'mutate', 'context': 'c', 'display': 'd'}", AddContext("c", "d")),
        (
            "pre_turn",
            "{'power': 'mutate', 'tools': ['read'], 'model': 'm', 'reasoningEffort': 'high'}",
            Rewrite(tools=("read",), model="m", effort="high"),
        ),
        ("turn_ending", "{'power': 'continue', 'context': 'c'}", Continue("c")),
    ],
)
async def test_answers(rig: ExtensionRig, phase: str, answer: str, decision: Any) -> None:
    assert await decided(rig, phase, answer) == decision


@pytest.mark.parametrize(
    ("phase", "answer", "error"),
    [
        ("pre_turn", "None", "returned nothing"),
        ("pre_turn", "later(None)", "returned nothing"),
        ("pre_turn", "'observe'", 'returned "observe"; it must be an object'),
        ("pre_turn", "[]", "returned []; it must be an object"),
        ("pre_turn", "{}", "gave no power"),
        ("pre_turn", "{'power': 'allow'}", "its power is"),
        ("pre_turn", "{'power': 'mutate', 'context': None}", "its context is null"),
        ("pre_tool_use", "{'power': 'mutate', 'input': {'n': float('nan')}}", "returned what is not JSON"),
        ("pre_tool_use", "{'power': 'mutate', 'input': {'n': float('inf')}}", "returned what is not JSON"),
        ("pre_tool_use", "{'power': 'mutate', 'input': {'f': print}}", "returned what is not JSON"),
        ("pre_tool_use", "{'power': 'mutate', 'input': {'f': {1, 2}}}", "returned what is not JSON"),
        ("pre_tool_use", "object()", "returned what is not JSON"),
        ("pre_tool_use", "loop", "returned what is not JSON"),
        ("pre_tool_use", "json.loads('[' * 300 + ']' * 300)", "nested deeper than"),
        ("pre_tool_use", "1 / 0", "ZeroDivisionError: division by zero ("),
        ("pre_tool_use", "sys.exit(2)", "it called sys.exit(2) ("),
        ("turn_ending", "{'power': 'block', 'reason': 'x'}", "its power is"),
        ("session_start", "{'power': 'block', 'reason': 'x'}", "its power is"),
    ],
)
async def test_case_052_what_is_no_answer_is_ignored(rig: ExtensionRig, phase: str, answer: str, error: str) -> None:
    assert error in await decided(rig, phase, answer)


@pytest.mark.parametrize(
    ("phase", "answer", "part"),
    [
        ("pre_tool_use", f"{{'power': 'mutate', 'input': {{'a': {BIG}}}}}", "input"),
        ("pre_tool_use", f"{{'power': 'block', 'reason': {BIG}}}", "reason"),
        ("post_tool_use", f"{{'power': 'mutate', 'patch': {{'content': [{{'type': 'text', 'text': {BIG}}}]}}}}", "patch"),
        ("pre_turn", f"{{'power': 'mutate', 'tools': [{BIG}]}}", "tools"),
    ],
)
async def test_case_053_a_part_of_70_kb_is_ignored(rig: ExtensionRig, phase: str, answer: str, part: str) -> None:
    error = await decided(rig, phase, answer)

    assert error.startswith(f"its {part} has 700")
    assert error.endswith("65536 are allowed")


@pytest.mark.parametrize("display", ["'x' * 201", r"'a\nb'", "5"])
async def test_case_177_a_bad_display_makes_the_whole_answer_invalid(rig: ExtensionRig, display: str) -> None:
    rig.py("one", returns("pre_turn", f"{{'power': 'mutate', 'context': 'c', 'tools': [], 'display': {display}}}"))

    outcome = await rig.fire(submitted())

    assert (outcome.contributions, outcome.value) == ((), submitted())


async def test_case_064_the_patch_of_an_executable_stays_where_a_function_raises(rig: ExtensionRig) -> None:
    answer = {"power": "mutate", "patch": {"content": [{"type": "text", "text": "patched"}]}}
    rig.hook("post_tool_use", "patch", f"cat >/dev/null; echo '{json.dumps(answer)}'")
    rig.py("bad", returns("post_tool_use", "1 / 0"))

    assert (await rig.fire(finished())).value.content == "patched"


@pytest.mark.parametrize("phase", [phase for phase in FUNCTION_PHASES if phase != "turn_finished"])
async def test_case_164_executables_of_config_json_come_before_functions(rig: ExtensionRig, phase: str) -> None:
    rig.py("b", returns(phase, "{'power': 'observe'}") * 2)
    rig.py("a", returns(phase, "{'power': 'observe'}"))
    rig.hook(phase, "z", 'cat >/dev/null; echo \'{"power":"observe"}\'')
    session = await rig.session()

    await session.fire(EVENTS[phase])
    await session.settle()

    assert [call.handler.name for call in session.calls] == ["z", "a", "b", "b"]


async def test_each_function_sees_what_the_one_before_made(rig: ExtensionRig) -> None:
    rig.py("a", returns("pre_tool_use", "{'power': 'mutate', 'input': {'n': 1}}"))
    rig.py("b", returns("pre_tool_use", "{'power': 'mutate', 'input': {'n': given['toolCall']['input']['n'] + 1}}"))

    assert (await rig.fire(proposed())).value.call.input == {"n": 2}


async def test_case_172_a_function_is_known_by_its_extensions_id(rig: ExtensionRig) -> None:
    rig.py("example.lookout", returns("pre_turn", "{'power': 'mutate', 'context': 'c'}"), name="folder")

    [contribution] = (await rig.fire(submitted())).contributions

    assert contribution.handler.name == "example.lookout"
    assert contribution.handler.origin.file.endswith("folder/main.py")


async def test_functions_have_the_policy_and_the_limits_of_javascript_ones(rig: ExtensionRig) -> None:
    rig.py("all", "".join(returns(phase, "{}") for phase in FUNCTION_PHASES))

    handlers = {handler.origin.event: handler for handler in (await rig.session()).handlers}

    assert {handler.on_failure for handler in handlers.values()} == {OnFailure.OPEN}
    assert {name: handler.timeout for name, handler in handlers.items()} == {
        "session_start": 60.0,
        **dict.fromkeys(("pre_turn", "pre_tool_use", "post_tool_use", "turn_ending")),
        **dict.fromkeys(OBSERVERS, 10.0),
    }


async def test_modes_are_by_the_extensions_id(rig: ExtensionRig) -> None:
    rig.settings('[hooks."watched"]\nmode = "report"\n[hooks."silent"]\nmode = "off"\n')
    for name in ("watched", "silent"):
        rig.py(name, returns("pre_tool_use", "(keep(1), {'power': 'block', 'reason': 'never'})[1]"))
    session = await rig.session()

    assert (await session.fire(proposed())).decision is None

    assert {handler.name: handler.mode for handler in session.handlers} == {"watched": Mode.REPORT, "silent": Mode.OFF}
    assert (rig.kept("watched"), rig.kept("silent")) == ([1], [])


@pytest.mark.parametrize("phase", OBSERVERS)
async def test_case_173_a_failed_observer_is_one_line_with_the_extensions_id(rig: ExtensionRig, phase: str) -> None:
    rig.py("one", returns(phase, "1 / 0") + returns(phase, "5"))
    session = await rig.session()

    await session.fire(EVENTS[phase])
    await session.settle()

    [line] = rig.log()
    assert line.pop("message").startswith("ZeroDivisionError: division by zero (")
    assert line == {"type": f"{phase}_hook_failed", "level": "warn", "extensionId": "one"}


@pytest.mark.parametrize(
    "hook",
    [
        "def hook(given):\n    keep('begun')\n    time.sleep(3600)",
        "async def hook(given):\n    keep('begun')\n    await asyncio.Event().wait()",
        "async def hook(given):\n    keep('begun')\n    time.sleep(3600)",
    ],
)
async def test_case_178_a_turn_ending_function_that_never_returns_ends_with_the_deadline(
    rig: ExtensionRig, clock: Clock, hook: str
) -> None:
    rig.py("stuck", f"{hook}\ntreblehook.hooks.register_turn_ending(hook)")
    session = await rig.session()
    firing = asyncio.ensure_future(session.fire(ending()))
    while not rig.kept("stuck"):
        await asyncio.sleep(0.01)

    await clock.advance(60)

    assert (await firing).decision is None
    assert session.ends == [("stuck", Ended.TIMED_OUT)]


async def test_a_function_that_blocks_does_not_hold_up_the_other_extensions(rig: ExtensionRig, clock: Clock) -> None:
    rig.py("a", "def hook(given):\n    keep('begun')\n    time.sleep(3600)\ntreblehook.hooks.register_session_start(hook)")
    rig.py("b", returns("pre_tool_use", "{'power': 'block', 'reason': 'b'}"))
    rig.py("c", "treblehook.hooks.register_turn_ending(lambda given: {'power': 'continue', 'context': 'c'})")
    session = await rig.session()
    firing = asyncio.ensure_future(session.fire(SAMPLES["session_start"]))
    while not rig.kept("a"):
        await asyncio.sleep(0.01)

    assert (await session.fire(proposed())).decision == Block("b")
    assert (await session.fire(ending())).decision == Continue("c")
    await clock.advance(60)
    await firing


async def test_an_async_function_that_blocks_ends_its_extension_alone(rig: ExtensionRig, clock: Clock) -> None:
    stuck = "async def hook(given):\n    keep('begun')\n    time.sleep(3600)\n"
    rig.py("a", stuck + f"treblehook.hooks.register_turn_ending(hook)\n{returns('pre_tool_use', '5')}")
    rig.py("b", returns("pre_tool_use", "{'power': 'block', 'reason': 'b'}"))
    session = await rig.session()
    firing = asyncio.ensure_future(session.fire(ending()))
    while not rig.kept("a"):
        await asyncio.sleep(0.01)
    await clock.advance(60)
    await firing

    await clock.advance(6)

    assert rig.messages() == ["extension a has ended: it blocked its event loop for 5 s"]
    assert (await session.fire(proposed())).decision == Block("b")
    assert session.errors[-2:] == ["was not asked: it blocked its event loop for 5 s", None]


async def test_sync_functions_run_at_the_same_time(rig: ExtensionRig) -> None:
    rig.py("one", returns("session_end", "both.wait()"), before="both = threading.Barrier(2)")
    session = await rig.session()

    for _ in range(2):
        await session.fire(EVENTS["session_end"])

    await session.settle()
    assert session.errors == [None, None]


async def test_tasks_of_an_extension_live_until_its_end(rig: ExtensionRig) -> None:
    rig.py(
        "one",
        """
        async def beside():
            try:
                await asyncio.Event().wait()
            finally:
                keep("ended")
        treblehook.task = asyncio.create_task(beside())
        await asyncio.sleep(0)
        """,
        define="async def",
    )
    assert "one" in await rig.load()
    assert rig.kept("one") == []

    await rig.home.close()

    assert rig.kept("one") == ["ended"]


async def test_a_task_that_leaves_ends_its_extension_alone(rig: ExtensionRig) -> None:
    rig.py("a", "async def leave():\n    sys.exit(4)\nasyncio.create_task(leave())\nawait asyncio.sleep(0.5)", define="async def")
    rig.py("b", returns("pre_tool_use", "{'power': 'block', 'reason': 'b'}"))

    assert (await rig.fire(proposed())).decision == Block("b")
    [message] = rig.messages()
    assert message.startswith("extension a does not load: it called sys.exit(4) (")
