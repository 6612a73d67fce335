"""Subagents whose parent waits for them."""

import asyncio

from tests.support.nest import Nest, agent, bash, check_answered, offered, texts
from tests.support.rows import Rows
from treblehook.agent.models.model import ModelQuery
from treblehook.home.sessions import DEEPEST_SUBAGENT
from treblehook.lifecycle import Block, PromptSubmitted, Rewrite, SessionEnd, SubagentFinished, TurnComplete


async def test_its_final_text_is_the_result(nest: Nest, rows: Rows) -> None:
    nest.plays(agent("dig"), {"text": "Gold!"}, routes=[{"match": "dig", "turns": [bash("echo gold"), {"text": "I found gold."}]}])
    session = await nest.open(hooks=rows.hooks)

    end = await session.prompt("go")

    assert end.text == "Gold!"
    result = nest.ears.of("tool_result", session.id)[0]
    assert (result["name"], result["content"], result["is_error"]) == ("agent", "I found gold.", False)
    parent, child = nest.ears.of("session")
    assert (parent["parent"], child["parent"]) == (None, session.id)
    finished = rows.only(SubagentFinished)
    assert (finished.session, finished.subagent, finished.background) == (session.id, child["session"], False)
    assert (finished.outcome, finished.text) == ("completed", "I found gold.")
    assert [(event.session, event.reason, event.spawned) for event in rows.of(SessionEnd)] == [(child["session"], "closed", True)]
    assert [record["status"] for record in nest.ears.of("end")] == ["finished"]


async def test_the_rows_of_a_subagent_lie_inside_its_parents_call(nest: Nest, rows: Rows) -> None:
    nest.plays(agent("dig"), {"text": "Gold!"}, routes=[{"match": "dig", "turns": [{"text": "Dug."}]}])
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("go")

    inside = [type(event).__name__ for event in rows.events if event.session != session.id]
    assert inside[:2] == ["SessionStart", "PromptSubmitted"]
    assert inside[-2:] == ["TurnComplete", "SessionEnd"]
    names = [(type(event).__name__, event.session == session.id) for event in rows.events]
    assert names.index(("ToolGate", True)) < names.index(("SessionStart", False))
    assert names.index(("TurnComplete", False)) < names.index(("SubagentFinished", True)) < names.index(("ToolFinished", True))


async def test_several_of_one_reply_work_one_after_another(nest: Nest) -> None:
    both = {"tools": [*agent("dig here")["tools"], *agent("dig there")["tools"]]}
    digs = [{"match": f"dig {place}", "turns": [{"text": f"Dug {place}."}]} for place in ("here", "there")]
    nest.plays(both, {"text": "Gold!"}, routes=digs)
    session = await nest.open()

    await session.prompt("go")

    assert [record["content"] for record in nest.ears.of("tool_result")] == ["Dug here.", "Dug there."]
    assert [texts(query) for query in nest.queries[1:3]] == [["dig here"], ["dig there"]]


async def test_the_deepest_one_is_offered_no_subagents(nest: Nest) -> None:
    nest.plays(after={"text": "Deep enough."}, routes=[{"match": "dig", "turns": [agent("dig")]}])
    session = await nest.open()

    await session.prompt("dig")

    firsts = [query for query in nest.queries if len(query.messages) == 1]
    assert ["agent" in offered(query) for query in firsts] == [True] * DEEPEST_SUBAGENT + [False]
    assert all("agent" in query.system.partition("Your tools:")[2].partition("\n")[0] for query in firsts[:-1])
    assert "agent" not in firsts[-1].system.partition("Your tools:")[2].partition("\n")[0]
    deepest = nest.ears.of("tool_result")[0]
    assert "no tool named 'agent'" in deepest["content"]


async def test_one_that_fails_says_why_besides_what_it_said(nest: Nest, rows: Rows) -> None:
    failing = {"match": "dig", "turns": [bash("true", text="I dig."), {"status": 400, "error": "no shovel"}]}
    nest.plays(agent("dig"), {"text": "Alone then."}, routes=[failing])
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("go")

    result = nest.ears.of("tool_result", session.id)[0]
    assert result["is_error"]
    assert "I dig." in result["content"]
    assert "no shovel" in result["content"]
    assert rows.only(SubagentFinished).outcome == "error"
    assert [record["status"] for record in nest.ears.of("end")] == ["failed"]


async def test_one_whose_prompt_is_blocked_hands_the_reason_back(nest: Nest, rows: Rows) -> None:
    rows.on(PromptSubmitted, lambda event: Block("no digging") if event.spawned else None)
    nest.plays(agent("dig"), {"text": "Alone then."})
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("go")

    result = nest.ears.of("tool_result")[0]
    assert (result["content"], result["is_error"]) == ("no digging", True)


async def test_a_change_of_model_for_the_parents_turn_is_not_its_childs(nest: Nest, rows: Rows) -> None:
    other = nest.plays(agent("dig"), {"text": "Gold!"}, model="other")
    nest.plays(after={"text": "Dug."})
    rows.on(PromptSubmitted, lambda event: None if event.spawned else Rewrite(model=other))
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("go")

    assert nest.specs == [other, session.state.model.spec, other]


async def test_stopping_the_parents_turn_stops_it(nest: Nest, rows: Rows) -> None:
    asked = asyncio.Event()

    async def wait_for_the_child(query: ModelQuery) -> None:
        if texts(query) == ["dig"]:
            asked.set()
            await asyncio.Event().wait()

    nest.before_reply = wait_for_the_child
    nest.plays(agent("dig"), {"text": "Gold!"})
    session = await nest.open(hooks=rows.hooks)
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()

    await session.interrupt()

    assert (await turn).status == "interrupted"
    check_answered(session.state.conversation.messages)
    await session.finish("closed")
    assert [(record["session"] == session.id, record["status"]) for record in nest.ears.of("end")] == [(False, "interrupted")]
    assert rows.of(SubagentFinished) == []
    aborted = [event.outcome for event in rows.of(TurnComplete)]
    assert aborted == ["aborted", "aborted"]


async def test_closing_the_parent_ends_it_first_and_for_the_same_reason(nest: Nest, rows: Rows) -> None:
    asked = asyncio.Event()

    async def hold_the_child(query: ModelQuery) -> None:
        if texts(query) == ["dig"]:
            asked.set()
            await asyncio.Event().wait()

    nest.before_reply = hold_the_child
    nest.plays(agent("dig"), {"text": "Gold!"})
    session = await nest.open(hooks=rows.hooks)
    turn = asyncio.ensure_future(session.prompt("go"))
    await asked.wait()

    await session.finish("shutdown")

    assert (await turn).status == "interrupted"
    assert [(event.spawned, event.reason) for event in rows.of(SessionEnd)] == [(True, "shutdown"), (False, "shutdown")]
    assert rows.of(SubagentFinished) == []


async def test_a_task_must_say_something(nest: Nest) -> None:
    wrong = [{}, {"task": " "}, {"task": 5}, {"task": "dig", "background": "yes"}, {"task": "dig", "to": 5}, {"task": "dig", "to": "ses_0"}]
    nest.plays({"tools": [{"name": "agent", "args": arguments} for arguments in wrong]}, {"text": "Sorry."})
    session = await nest.open()

    await session.prompt("go")

    results = nest.ears.of("tool_result")
    assert [result["content"].partition(":")[0] for result in results] == ["task", "task", "task", "background", "to", "to"]
    assert all(result["is_error"] for result in results)
    assert len(nest.ears.of("session")) == 1
