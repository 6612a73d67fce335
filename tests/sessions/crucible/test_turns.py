"""What the provider is sent and what follows a turn (crucible.md 3.3 to 3.5, 3.8, 3.9 and 11 G)."""

import pytest

from tests.support.lua_nest import LuaNest, Place, last_result
from tests.support.nest import bash, texts
from treblehook.agent.session import Session


def on(event: str, body: str, options: str = "{}") -> str:
    return f"cru.on('{event}', {options}, function(ctx, event) {body} end)\n"


def suffix(text: str) -> str:
    return on("pre_llm_call", f"return {{prompt = event.prompt .. '{text}'}}")


async def test_case_090_prompts_chain_from_the_session_to_the_plugins(nest: LuaNest) -> None:
    nest.of_workspace(suffix(" s"))
    nest.plugin(on("pre_llm_call", "return {prompt = event.prompt .. ' p'}", "{priority = -1000}"))
    session = await nest.open()
    await session.prompt("dig")
    assert texts(nest.queries[-1]) == ["dig s p"]
    (prompt,) = [record for record in nest.stored(session) if record["type"] == "prompt"]
    assert prompt["text"] == "dig"


async def test_case_090_each_request_starts_from_the_original_prompt(nest: LuaNest, where: Place) -> None:
    nest.put(where, suffix(" (be concise)") + on("pre_llm_call", "tell(event.prompt, event.model)"))
    spec = nest.plays(bash("echo a"), bash("echo b"))
    session = await nest.open()
    await session.prompt("dig")
    assert [texts(query) for query in nest.queries] == [["dig (be concise)"]] * 3
    assert nest.told == [["dig (be concise)", spec]] * 3
    await session.prompt("again")
    assert texts(nest.queries[-1])[-1] == "again (be concise)"


@pytest.mark.parametrize(
    "value",
    ["{prompt = 5}", "{prompt = {}}", "'text'", "{handled = true, result = 'x'}", "{inject = {content = 'x'}}", "{model = 'm'}", "{}"],
)
async def test_case_091_100_what_is_no_prompt_is_ignored(nest: LuaNest, where: Place, value: str) -> None:
    nest.put(where, on("pre_llm_call", f"return {value}"))
    session = await nest.open()
    await session.prompt("dig")
    await session.prompt("again")
    assert texts(nest.queries[-1]) == ["dig", "again"]


@pytest.mark.parametrize("event", ["pre_llm_call", "transform_context"])
async def test_case_092_a_cancel_ends_the_turn_and_the_provider_is_not_asked(nest: LuaNest, where: Place, event: str) -> None:
    nest.put(
        where, on(event, "return {cancel = true, reason = 'low tide'}") + on(event, "tell('never')") + on("turn:complete", "tell('never')")
    )
    session = await nest.open()
    end = await session.prompt("dig")
    assert (end.status, end.reason) == ("blocked", "low tide")
    assert nest.queries == []
    assert nest.told == []
    assert "low tide" in str(nest.ears.records)


async def test_case_093_every_reply_is_told_with_its_model_and_time(nest: LuaNest, where: Place) -> None:
    code = "tell(event.type, event.response_summary, event.model, math.type(event.duration_ms), event.duration_ms >= 0)"
    nest.put(where, on("post_llm_call", code + " return {cancel = true, response_summary = 'x'}") + on("turn:complete", "tell('complete')"))
    spec = nest.plays({"text": "é" * 300})
    end = await (await nest.open()).prompt("dig")
    assert nest.told == [["post_llm_call", "é" * 200, spec, "integer", True], "complete"]
    assert end.text == "é" * 300


async def test_case_094_two_requests_in_a_turn_are_announced_twice_and_completed_once(nest: LuaNest, where: Place) -> None:
    names = ("pre_llm_call", "post_llm_call", "transform_context", "turn:complete")
    nest.put(where, "".join(on(name, "tell(event.type)") for name in names))
    nest.plays(bash("echo a"))
    await (await nest.open()).prompt("dig")
    first, after = ["pre_llm_call", "transform_context", "post_llm_call"], ["pre_llm_call", "post_llm_call", "turn:complete"]
    assert nest.told == first + after


async def test_case_095_transform_context_sees_every_turns_context(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("transform_context", "for i, m in ipairs(event.messages) do tell(i, m.role, m.content) end"))
    nest.plays({"text": "One."}, {"text": "Two."})
    session = await nest.open()
    await session.prompt("dig")
    await session.prompt("again")
    assert nest.told == [[1, "user", "dig"], [1, "user", "dig"], [2, "assistant", "One."], [3, "user", "again"]]


async def test_case_096_a_message_that_a_hook_adds_reaches_the_provider(nest: LuaNest, where: Place) -> None:
    code = "table.insert(event.messages, 1, {role = 'system', content = 'Beware.'}) return {messages = event.messages}"
    nest.put(where, on("transform_context", code))
    nest.plays(bash("echo dug"))
    await (await nest.open()).prompt("dig")
    assert [(m.role, m.text) for m in nest.queries[0].messages] == [("system", "Beware."), ("user", "dig")]
    assert [m.role for m in nest.queries[1].messages] == ["system", "user", "assistant", "tool"]
    assert nest.queries[1].messages[2].calls[0].input == {"command": "echo dug"}


@pytest.mark.parametrize(
    "messages",
    [
        "{{role = 'pirate', content = 'x'}}",
        "{{role = 'user', content = 5}}",
        "{{role = 'user'}}",
        "{}",
        "'x'",
        "{'x'}",
        "{{role = 'user', content = 'x', metadata = 'x'}}",
        "{{role = 'system', content = 'fine'}, {role = 'nobody', content = 'x'}}",
    ],
)
async def test_case_096_a_context_with_anything_wrong_is_ignored_as_a_whole(nest: LuaNest, where: Place, messages: str) -> None:
    nest.put(where, on("transform_context", f"return {{messages = {messages}}}"))
    end = await (await nest.open()).prompt("dig")
    assert end.status == "finished"
    assert [(m.role, m.text) for m in nest.queries[0].messages] == [("user", "dig")]
    assert any("context" in warning for warning in nest.warnings)


async def test_case_096_calls_and_results_survive_a_round_trip(nest: LuaNest, where: Place) -> None:
    nest.put(where, on("transform_context", "return {messages = event.messages}"))
    nest.plays(bash("echo a", text="I dig."))
    session = await nest.open()
    await session.prompt("dig")
    await session.prompt("again")
    plain = [(m.role, m.text, m.calls, m.call_id, m.tool, m.is_error) for m in session.state.conversation.messages[:-1]]
    assert [(m.role, m.text, m.calls, m.call_id, m.tool, m.is_error) for m in nest.queries[-1].messages] == plain


def inject(content: str, position: str = "", options: str = "{}") -> str:
    return on("turn:complete", f"return {{inject = {{content = '{content}'{position}}}}}", options)


async def _three(nest: LuaNest, session: Session | None = None) -> list[str]:
    session = session or await nest.open()
    for prompt in ("one", "U", "three"):
        await session.prompt(prompt)
    return texts(nest.queries[-1])


ONCE = "local once cru.on('turn:complete', function() if once then return end once = true return {inject = {content = 'P'%s}} end)\n"


@pytest.mark.parametrize(
    ("case", "position", "prompt"),
    [
        (97, ", position = 'user_prefix'", "P\n\nU"),
        (98, ", position = 'user_suffix'", "U\n\nP"),
        (98, "", "P\n\nU"),
        (98, ", position = 'middle'", "P\n\nU"),
        (98, ", position = 5", "P\n\nU"),
    ],
)
async def test_case_097_098_an_injection_joins_the_next_prompt_once(
    nest: LuaNest, where: Place, case: int, position: str, prompt: str
) -> None:
    nest.put(where, ONCE % position + on("pre_llm_call", "tell(event.prompt)"))
    assert await _three(nest) == ["one", prompt, "three"]
    assert nest.told == ["one", prompt, "three"]


async def test_case_097_an_injection_outlives_the_process(nest: LuaNest, where: Place) -> None:
    nest.put(where, ONCE % "")
    session = await nest.open()
    await session.prompt("one")
    await session.finish("closed")
    again = await nest.open(resume=session.id)
    await again.prompt("U")
    assert texts(nest.queries[-1]) == ["one", "P\n\nU"]


async def test_case_099_the_last_injection_wins(nest: LuaNest) -> None:
    nest.of_workspace(inject("s1", options="{priority = 900}"))
    nest.plugin(inject("p2", options="{priority = 2}") + inject("p1", options="{priority = 1}"))
    assert (await _three(nest))[1] == "p2\n\nU"


async def test_case_099_an_empty_one_overrides_too(nest: LuaNest, where: Place) -> None:
    nest.put(where, inject("x") + inject(""))
    assert await _three(nest) == ["one", "U", "three"]


async def test_case_100_an_injection_from_elsewhere_has_no_effect(nest: LuaNest, where: Place) -> None:
    names = (
        "tool_result",
        "pre_tool_call",
        "pre_llm_call",
        "post_llm_call",
        "transform_context",
        "tool:before_execute",
        "tool:display_start",
    )
    nest.put(where, "".join(on(name, "return {inject = {content = 'x'}}") for name in names))
    nest.plays(bash("echo dug"))
    session = await nest.open()
    await session.prompt("one")
    await session.prompt("U")
    assert texts(nest.queries[-1]) == ["one", "U"]
    assert last_result(nest).text == "dug\n"


async def test_case_101_a_failure_does_not_undo_an_injection(nest: LuaNest, where: Place) -> None:
    nest.put(
        where,
        inject("P") + on("turn:complete", "error('no')") + on("turn:complete", "return {inject = {}}") + on("turn:complete", "return 7"),
    )
    assert (await _three(nest))[1] == "P\n\nU"


@pytest.mark.parametrize("other", ["return {cancel = true}", "return {handled = true}", "return {response_length = 0}", "return 'x'"])
async def test_turn_complete_ignores_everything_else(nest: LuaNest, where: Place, other: str) -> None:
    nest.put(where, on("turn:complete", other) + on("turn:complete", "tell('still asked')"))
    assert await _three(nest) == ["one", "U", "three"]
    assert nest.told == ["still asked"] * 3


async def test_turn_complete_tells_of_the_turn(nest: LuaNest, where: Place) -> None:
    nest.put(
        where,
        on("turn:complete", "tell(event.session_id == ctx.session_id, event.message_id, event.response_length, event.is_continuation)"),
    )
    nest.plays({"text": "dé"})
    session = await nest.open()
    await session.prompt("dig")
    ((same, message, length, continuation),) = nest.told
    assert (same, length, continuation) == (True, 3, False)
    assert message in {m.id for m in session.state.conversation.messages}


async def test_case_102_environments_merge_and_the_session_wins(nest: LuaNest) -> None:
    nest.of_workspace(on("tool:before_execute", "return {env = {A = 's', S = '1'}}"))
    code = on("tool:before_execute", "return {env = {A = '1', P = '1'}}") + on("tool:before_execute", "error('no')")
    nest.plugin(code + on("tool:before_execute", "return {env = {A = '2', P = '2'}}"))
    nest.plays(bash("echo $A $S $P"))
    await (await nest.open()).prompt("dig")
    assert last_result(nest).text == "s 1 2\n"


async def test_case_102_a_later_handler_overrides_an_earlier_one(nest: LuaNest, where: Place) -> None:
    env = [on("tool:before_execute", "return {env = {A = '1'}}"), on("tool:before_execute", "return {env = {A = '2', B = '3'}}")]
    nest.put(where, env[0] + env[1] + on("tool:before_execute", "while true do end"))
    nest.plays(bash("echo $A $B"))
    await (await nest.open()).prompt("dig")
    assert last_result(nest).text == "2 3\n"


@pytest.mark.parametrize(
    "value",
    [
        "{env = {A = 5}}",
        "{env = 'A=1'}",
        "{A = '1'}",
        "{cancel = true}",
        r"{env = {A = 'a\0b'}}",
        "{env = {['A=B'] = '1'}}",
        "{env = {'x'}}",
    ],
)
async def test_case_103_what_is_no_variable_is_left_out_and_nothing_can_be_blocked(nest: LuaNest, where: Place, value: str) -> None:
    nest.put(where, on("tool:before_execute", f"event.args.command = 'echo other' return {value}"))
    nest.plays(bash('echo "[$A]"'))
    await (await nest.open()).prompt("dig")
    assert last_result(nest).text == "[]\n"
