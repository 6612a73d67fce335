"""Python extensions in whole sessions: rows, subagents, side questions (vera.md 3.4, 3.5, 5.7; cases 172 to 176)."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.extension_rig import write_python_extension
from tests.support.nest import Nest, agent, texts
from tests.support.nest import nest as nest
from tests.support.processes import until

ASK = """
async def ask(given):
    if given["prompt"].startswith("quiet"):
        return {"power": "observe"}
    session = (given["prompt"].split(" ") + [given["sessionId"]])[1]
    try:
        keep(await treblehook.sessions.ask(session_id=session, question="Which island?"))
    except Exception as error:
        keep(str(error))
    return {"power": "observe"}
"""


def py(nest: Nest, id: str, activate: str, **more: Any) -> None:
    write_python_extension(nest.folder / "extensions" / id, id, activate, **more)


def kept(nest: Nest, id: str) -> list[Any]:
    file = nest.folder / f"{id}.kept"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def finished(nest: Nest, id: str, count: int = 1) -> list[Any]:
    """What an extension has kept, once there are `count`."""
    await until(lambda: len(kept(nest, id)) >= count)
    return kept(nest, id)


@pytest.mark.parametrize("profile", ["bare", "prompt-only"])
async def test_a_bare_session_runs_no_extension(nest: Nest, profile: str) -> None:
    py(nest, "one", "keep('on')\ntreblehook.hooks.register_pre_turn(keep)")

    await (await nest.open(profile=profile)).prompt("hello")

    assert kept(nest, "one") == []


async def test_subagents_run_the_functions_too(nest: Nest) -> None:
    py(
        nest,
        "one",
        """
        def before(turn):
            keep(["pre_turn", turn["spawned"]])
            return {"power": "observe"}
        treblehook.hooks.register_pre_turn(before)
        treblehook.hooks.register_turn_finished(lambda turn: keep(["turn_finished", turn["spawned"]]))
        treblehook.hooks.register_subagent_finished(lambda end: keep(["subagent_finished", end["text"]]))
        """,
    )
    nest.plays(agent("dig"), {"text": "over"}, routes=[{"match": "dig", "turns": [{"text": "a chest"}]}])

    await (await nest.open()).prompt("go")

    assert sorted(await finished(nest, "one", 4)) == [
        ["pre_turn", False],
        ["pre_turn", True],
        ["subagent_finished", "a chest"],
        ["turn_finished", False],
    ]


async def test_case_172_the_row_names_the_extension(nest: Nest) -> None:
    py(nest, "example.lookout", "treblehook.hooks.register_pre_turn(lambda turn: {'power': 'mutate', 'context': 'c'})")

    await (await nest.open()).prompt("hello")

    assert nest.ears.rows() == ["example.lookout added context"]


@pytest.mark.parametrize("stuck", ["await asyncio.Event().wait()", "time.sleep(3600)"])
async def test_an_interrupted_turn_does_not_wait_and_is_told_as_aborted(nest: Nest, stuck: str) -> None:
    define = "async def" if stuck.startswith("await") else "def"
    py(
        nest,
        "one",
        f"{define} before(turn):\n    keep('asked')\n    {stuck}\n"
        "treblehook.hooks.register_pre_turn(before)\n"
        "treblehook.hooks.register_turn_finished(lambda turn: keep(turn['outcome']))",
    )
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("hello"))
    await finished(nest, "one")

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert await finished(nest, "one", 2) == ["asked", "aborted"]


# sessions.ask


async def test_case_174_asking_a_session_that_never_called_its_model(nest: Nest) -> None:
    py(nest, "one", f"{ASK}treblehook.hooks.register_pre_turn(ask)")

    await (await nest.open()).prompt("hello")

    assert kept(nest, "one") == ["nothing has been sent to a model in this session yet"]


async def test_case_176_asking_during_a_running_turn(nest: Nest) -> None:
    py(nest, "one", f"{ASK}treblehook.hooks.register_pre_turn(ask)")
    nest.plays({"text": "first"}, {"text": "second"}, after={"text": "third"})
    busy, other = await nest.open(), await nest.open()
    await busy.prompt("quiet")
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(busy.prompt("quiet again"))
    await asked.wait()
    nest.before_reply = None
    before = list(busy.state.conversation.messages)

    await other.prompt(f"ask {busy.id}")

    assert kept(nest, "one") == [{"text": "second", "model": str(nest.place / "model.json"), "provider": "script"}]
    assert not turn.done()
    assert busy.state.conversation.messages == before
    assert [(r["use"], r["input"]) for r in nest.stored(busy) if r["type"] == "usage"][-1] == ("ask", 10)
    go.set()
    assert (await turn).text == "second"


async def test_a_sync_function_asks_with_a_loop_of_its_own(nest: Nest) -> None:
    py(
        nest,
        "one",
        """
        def ending(turn):
            asking = treblehook.sessions.ask(session_id=turn["sessionId"], question="Which island?", max_tokens=7)
            keep(asyncio.run(asking)["text"])
            return {"power": "observe"}
        treblehook.hooks.register_turn_ending(ending)
        """,
    )
    nest.plays({"text": "first"}, routes=[{"match": "Which island?", "turns": [{"text": "the second island"}]}])

    await (await nest.open()).prompt("hello")

    assert kept(nest, "one") == ["the second island"]
    assert [query.max_tokens for query in nest.queries if texts(query)[-1] == "Which island?"] == [7]


async def test_asking_is_given_up_when_it_is_cancelled(nest: Nest) -> None:
    py(
        nest,
        "one",
        """
        async def before(turn):
            if turn["prompt"] == "quiet":
                return {"power": "observe"}
            try:
                async with asyncio.timeout(0.1):
                    await treblehook.sessions.ask(session_id=turn["sessionId"], question="Which island?")
            except TimeoutError:
                keep("enough")
            return {"power": "observe"}
        treblehook.hooks.register_pre_turn(before)
        """,
    )
    session = await nest.open()
    await session.prompt("quiet")
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("ask"))
    await asked.wait()

    assert await finished(nest, "one") == ["enough"]

    nest.before_reply = None
    go.set()
    assert (await turn).status == "finished"


async def test_asking_without_the_capability(nest: Nest) -> None:
    py(nest, "one", f"{ASK}treblehook.hooks.register_pre_turn(ask)", capabilities=["hooks.pre_turn"])

    await (await nest.open()).prompt("hello")

    assert kept(nest, "one") == ['sessions.ask needs the capability "sessions.ask", which the manifest does not declare']


async def test_asking_while_extensions_are_activated(nest: Nest) -> None:
    body = "try:\n    await treblehook.sessions.ask(session_id='x', question='y')\nexcept Exception as error:\n    keep(str(error))"
    py(nest, "one", body, define="async def")

    await nest.open()

    assert kept(nest, "one") == ["sessions.ask: the host is not ready yet"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("session_id='', question='x'", "sessionId"),
        ("session_id=5, question='x'", "sessionId"),
        ("session_id='s', question=' '", "the question is blank"),
        ("session_id='s', question='x' * 262145", "262145 bytes; 262144 are allowed"),
        ("session_id='s', question='x', max_tokens=0", "maxTokens"),
        ("session_id='s', question='x', max_tokens=1.5", "maxTokens"),
        ("session_id='s', question=print", "sessions.ask: Object of type method is not JSON serializable"),
        ("session_id='s', question='x'", "no session 's' is open"),
    ],
)
async def test_bad_requests(nest: Nest, arguments: str, error: str) -> None:
    body = (
        "async def before(turn):\n    try:\n        await treblehook.sessions.ask(" + arguments + ")\n"
        "    except Exception as error:\n        keep([type(error).__name__, str(error)])\n    return {'power': 'observe'}\n"
        "treblehook.hooks.register_pre_turn(before)"
    )
    py(nest, "one", body)

    await (await nest.open()).prompt("hello")

    [(kind, message)] = kept(nest, "one")
    assert kind == "AskFailed"
    assert error in message
