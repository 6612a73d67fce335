"""Extensions in whole sessions: rows, profiles, subagents, side questions (vera.md 3.4, 3.5, 5.7; cases 172 to 176)."""

import asyncio
import json
from typing import Any

import pytest

from tests.support.extension_rig import write_extension
from tests.support.needs import needs
from tests.support.nest import Nest, agent, bash, texts
from tests.support.nest import nest as nest
from tests.support.processes import until
from treblehook.agent.models.model import ModelFailed, ModelReply, Usage
from treblehook.agent.session import Session
from treblehook.lifecycle import ToolCall

pytestmark = needs("node")

LOOKOUT = """
vera.hooks.registerPreTurn((turn) => /treasure/i.test(turn.prompt)
    ? { power: 'mutate', context: 'the crow buried it under the third palm' } : { power: 'observe' });
vera.hooks.registerTurnEnding((turn) => /done/.test(turn.reply) && !/map/.test(turn.reply)
    ? { power: 'continue', context: 'You said done but drew no map.' } : { power: 'observe' });
vera.hooks.registerTurnFinished(keep);
"""
ASKS = """
const ask = async (given) => {
    const [, sessionId] = given.prompt.split(' ');
    try { keep(await vera.sessions.ask({ sessionId: sessionId ?? given.sessionId, question: 'Which island?' })); }
    catch (error) { keep(error.message); }
    return { power: 'observe' };
};
"""


def js(nest: Nest, id: str, activate: str, **more: Any) -> None:
    write_extension(nest.folder / "extensions" / id, id, activate, **more)


def kept(nest: Nest, id: str) -> list[Any]:
    file = nest.folder / f"{id}.kept"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def finished(nest: Nest, id: str, count: int = 1) -> list[Any]:
    """What an extension has kept, once there are `count`."""
    await until(lambda: len(kept(nest, id)) >= count)
    return kept(nest, id)


async def test_the_lookout_of_the_seed(nest: Nest) -> None:
    js(nest, "example.lookout", LOOKOUT)
    nest.plays({"text": "done"}, {"text": "done, and a map"})
    session = await nest.open()

    end = await session.prompt("where is the treasure?")

    assert end.text == "done, and a map"
    assert nest.ears.rows() == ["example.lookout added context", "example.lookout continued the turn"]
    assert texts(nest.queries[0]) == ["where is the treasure?", "the crow buried it under the third palm"]
    assert texts(nest.queries[1])[-1] == "You said done but drew no map."
    [turn] = await finished(nest, "example.lookout")
    assert (turn["outcome"], turn["turns"], turn["prompt"], turn["reply"]) == (
        "completed",
        1,
        "where is the treasure?",
        "done\n\ndone, and a map",
    )


async def test_display_replaces_the_row(nest: Nest) -> None:
    js(nest, "lookout", "vera.hooks.registerPreTurn(() => ({ power: 'mutate', context: 'c', display: 'Spotted' }));")

    await (await nest.open()).prompt("hello")

    assert nest.ears.rows() == ["Spotted · lookout"]


async def test_a_blocked_turn_and_a_blocked_call(nest: Nest) -> None:
    js(
        nest,
        "guard",
        "vera.hooks.registerPreTurn((t) => t.prompt === 'no' ? { power: 'block', reason: 'not that' } : { power: 'observe' });"
        "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'leave it' }));"
        "vera.hooks.registerTurnFinished((t) => keep(t.outcome));",
    )
    nest.plays(bash("rm treasure"))
    session = await nest.open()

    assert (await session.prompt("go")).status == "finished"
    assert (await session.prompt("no")).reason == "not that"

    assert [(r["content"], r["ran"], r["is_error"]) for r in nest.ears.of("tool_result")] == [("leave it", False, True)]
    assert await finished(nest, "guard", 2) == ["completed", "error"]


@pytest.mark.parametrize("profile", ["bare", "prompt-only"])
async def test_a_bare_session_runs_no_extension_and_starts_no_node(nest: Nest, profile: str) -> None:
    js(nest, "one", "keep('on'); vera.hooks.registerPreTurn(keep); vera.hooks.registerSessionEnd(keep);")
    session = await nest.open(profile=profile)

    await session.prompt("hello")
    await session.close("closed")

    assert kept(nest, "one") == []
    assert nest.ears.of("hook") == []


async def test_subagents_run_the_functions_too(nest: Nest) -> None:
    js(
        nest,
        "one",
        "vera.hooks.registerPreTurn((t) => { keep(['pre_turn', t.spawned]); return { power: 'observe' }; });"
        "vera.hooks.registerTurnFinished((t) => keep(['turn_finished', t.spawned]));"
        "vera.hooks.registerSubagentFinished((s) => keep(['subagent_finished', s.text]));",
    )
    nest.plays(agent("dig"), {"text": "over"}, routes=[{"match": "dig", "turns": [{"text": "a chest"}]}])

    await (await nest.open()).prompt("go")

    assert sorted(await finished(nest, "one", 4)) == [
        ["pre_turn", False],
        ["pre_turn", True],
        ["subagent_finished", "a chest"],
        ["turn_finished", False],
    ]


async def test_an_interrupted_turn_does_not_wait_and_is_told_as_aborted(nest: Nest) -> None:
    js(
        nest,
        "one",
        "vera.hooks.registerPreTurn(() => { keep('asked'); return new Promise(() => {}); });"
        "vera.hooks.registerTurnFinished((t) => keep(t.outcome));",
    )
    session = await nest.open()
    turn = asyncio.ensure_future(session.prompt("hello"))
    await finished(nest, "one")

    await session.interrupt()

    assert (await turn).status == "interrupted"
    assert await finished(nest, "one", 2) == ["asked", "aborted"]


async def test_two_sessions_opened_at_once_load_the_extensions_once(nest: Nest) -> None:
    js(nest, "one", "keep('on'); vera.hooks.registerPreTurn(() => ({ power: 'block', reason: 'no' }));")

    sessions = await asyncio.gather(*(nest.open() for _ in range(5)))

    assert [(await session.prompt("hello")).status for session in sessions] == ["blocked"] * 5
    assert kept(nest, "one") == ["on"]


async def test_a_home_without_extensions_starts_no_node(nest: Nest) -> None:
    await (await nest.open()).prompt("hello")

    assert (await nest.home.extensions()).node is None
    assert not (nest.folder / "runtime").exists()


async def test_a_slow_function_of_one_session_does_not_hold_up_another(nest: Nest) -> None:
    js(
        nest,
        "one",
        "vera.hooks.registerPreTurn((t) => t.prompt === 'slow' ? new Promise((go) => { open = () => go({ power: 'observe' }); }) :"
        " { power: 'block', reason: 'fast' });"
        "vera.hooks.registerSessionEnd(() => open());",
        before="let open;",
    )
    slow = await nest.open()
    waiting = asyncio.ensure_future(slow.prompt("slow"))
    others = [await nest.open() for _ in range(20)]

    ends = await asyncio.gather(*(session.prompt("fast") for session in others))

    assert [end.reason for end in ends] == ["fast"] * 20
    assert not waiting.done()
    await others[0].close("closed")
    assert (await waiting).status == "finished"


# sessions.ask


async def test_case_174_asking_a_session_that_never_called_its_model(nest: Nest) -> None:
    js(nest, "one", f"{ASKS} vera.hooks.registerPreTurn(ask);")

    await (await nest.open()).prompt("hello")

    assert kept(nest, "one") == ["nothing has been sent to a model in this session yet"]


async def test_case_176_asking_during_a_running_turn(nest: Nest) -> None:
    js(nest, "one", f"{ASKS} vera.hooks.registerPreTurn((t) => t.prompt.startsWith('ask ') ? ask(t) : {{ power: 'observe' }});")
    nest.plays({"text": "first"}, {"text": "second"}, after={"text": "third"})
    busy, other = await nest.open(), await nest.open()
    await busy.prompt("remember the palm")
    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(busy.prompt("think"))
    await asked.wait()
    nest.before_reply = None
    before = list(busy.state.conversation.messages)

    await other.prompt(f"ask {busy.id}")

    [answer] = [one for one in kept(nest, "one") if isinstance(one, dict)]
    assert answer == {"text": "second", "model": str(nest.place / "model.json"), "provider": "script"}
    assert not turn.done()
    assert busy.state.conversation.messages == before
    question = next(query for query in nest.queries if texts(query)[-1] == "Which island?")
    assert texts(question) == ["remember the palm", "think", "Which island?"]
    assert [tool.name for tool in question.tools] == list(busy.state.tools)
    assert [(r["use"], r["input"]) for r in nest.stored(busy) if r["type"] == "usage"][-1] == ("ask", 10)
    assert [r for r in nest.stored(busy) if r["type"] in ("message", "prompt") and "island" in str(r)] == []
    go.set()
    assert (await turn).text == "second"


@pytest.mark.parametrize(
    ("reply", "error", "billed"),
    [
        (ModelReply("", (ToolCall("c", "bash", {}),), usage=Usage(3, 4)), "the model asked for a tool, bash", True),
        (ModelReply("I will not", stop="refusal", usage=Usage(3, 4)), "I will not", True),
        (ModelReply("free"), None, False),
    ],
)
async def test_replies_that_are_no_answer(nest: Nest, reply: ModelReply, error: str | None, billed: bool) -> None:
    js(nest, "one", f"{ASKS} vera.hooks.registerPreTurn(ask);")
    session = await nest.open()
    await session.prompt("hello")
    nest.replies.append(reply)

    await session.prompt("again")

    said = kept(nest, "one")[-1]
    assert said["text"] == "free" if error is None else said.startswith(error)
    assert (session.state.usage.get(("ask", session.state.model.spec)) is not None) is billed


async def test_a_provider_that_fails_is_asked_once(nest: Nest) -> None:
    js(nest, "one", f"{ASKS} vera.hooks.registerPreTurn(ask);")
    session = await nest.open()
    await session.prompt("hello")
    asked = len(nest.queries)

    async def fail(query: Any) -> None:
        nest.before_reply = None
        raise ModelFailed("script:x", "overloaded", "too busy", retryable=True)

    nest.before_reply = fail
    await session.prompt("again")

    assert kept(nest, "one")[-1] == "script:x: too busy"
    assert len(nest.queries) == asked + 2


async def test_a_session_that_is_closed_or_was_never_there(nest: Nest) -> None:
    js(nest, "one", f"{ASKS} vera.hooks.registerPreTurn(ask);")
    gone, session = await nest.open(), await nest.open()
    await gone.prompt("hello")
    await gone.close("closed")

    for name in (gone.id, "nobody"):
        await session.prompt(f"ask {name}")

    assert kept(nest, "one")[-2:] == [f"no session {gone.id!r} is open", "no session 'nobody' is open"]


async def _refusal(nest: Nest, activate: str, **more: Any) -> str:
    js(nest, "one", activate, **more)
    session: Session = await nest.open()
    await session.prompt("hello")
    return str(kept(nest, "one")[-1])


ASK = "try {{ keep(await vera.sessions.ask({})); }} catch (error) {{ keep(error.message); }}"


async def test_asking_without_the_capability(nest: Nest) -> None:
    body = f"vera.hooks.registerPreTurn(async () => {{ {ASK.format('{}')} }});"

    assert "does not declare" in await _refusal(nest, body, capabilities=["hooks.pre_turn"])


async def test_asking_while_extensions_are_activated(nest: Nest) -> None:
    request = "{ sessionId: 'x', question: 'y' }"

    assert "not ready yet" in await _refusal(nest, ASK.format(request))


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ("undefined", "missing required field"),
        ("{ question: 'x' }", "sessionId"),
        ("{ sessionId: '', question: 'x' }", "sessionId"),
        ("{ sessionId: 's' }", "question"),
        ("{ sessionId: 's', question: ' \\n' }", "the question is blank"),
        ("{ sessionId: 's', question: 'x'.repeat(262145) }", "262145 bytes; 262144 are allowed"),
        ("{ sessionId: 's', question: 'x'.repeat(5e6) }", "too long"),
        ("{ sessionId: 's', question: 'x', maxTokens: 0 }", "maxTokens"),
        ("{ sessionId: 's', question: 'x', maxTokens: 1.5 }", "maxTokens"),
        ("{ sessionId: 's', question: 'x', maxTokens: '5' }", "maxTokens"),
        ("{ sessionId: 's', question: 'x\\ud83d' }", "no session 's' is open"),
        ("{ sessionId: 's', question: 'x', signal: AbortSignal.abort(new Error('enough')) }", "enough"),
    ],
)
async def test_bad_requests(nest: Nest, request_: str, error: str) -> None:
    assert error in await _refusal(nest, f"vera.hooks.registerPreTurn(async () => {{ {ASK.format(request_)} }});")


async def test_max_tokens_and_abort(nest: Nest) -> None:
    js(
        nest,
        "one",
        "vera.hooks.registerPreTurn(async (turn) => {\n"
        "const stop = new AbortController();\n"
        "const asking = vera.sessions.ask({ sessionId: turn.sessionId, question: 'q', maxTokens: 7, signal: stop.signal });\n"
        "if (turn.prompt === 'abort') setTimeout(() => stop.abort(new Error('enough')), 50);\n"
        "keep(await asking.then((answer) => answer.text, (error) => error.message));\nreturn { power: 'observe' }; });",
    )
    session = await nest.open()
    await session.prompt("hello")

    await session.prompt("more")
    assert kept(nest, "one")[-1] == "Done."
    assert [query.max_tokens for query in nest.queries if texts(query)[-1] == "q"] == [7]

    asked, go = nest.hold_model()
    turn = asyncio.ensure_future(session.prompt("abort"))
    await asked.wait()
    await until(lambda: kept(nest, "one")[-1] == "enough")
    nest.before_reply = None
    go.set()
    assert (await turn).status == "finished"
