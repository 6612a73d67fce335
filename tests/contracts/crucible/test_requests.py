"""`pre_llm_call` and `post_llm_call` (crucible.md 3.3, 3.4)."""

import pytest

from tests.support.crucible_rig import LuaRig, returns
from treblehook.lifecycle import (
    Block,
    ModelRequest,
    ModelResponse,
)

REQUEST = ModelRequest(session="s1", prompt="p", model="m")


async def test_case_090_prompts_chain_from_the_session_to_the_plugins(rig: LuaRig) -> None:
    rig.load("plugin", returns("pre_llm_call", '{prompt = event.prompt .. " P"}'))
    rig.load("session", returns("pre_llm_call", '{prompt = event.prompt .. " S"}'))
    assert (await rig.fire(REQUEST)).value.prompt == "p S P"


@pytest.mark.parametrize("value", ["{prompt = 5}", '{model = "other"}', '"text"', '{handled = true, result = "x"}', "{prompt = {}}"])
async def test_case_091_what_is_no_prompt_is_ignored(rig: LuaRig, kind: str, value: str) -> None:
    rig.load(kind, returns("pre_llm_call", value))
    outcome = await rig.fire(REQUEST)
    assert (outcome.value, outcome.decision) == (REQUEST, None)


async def test_case_092_a_request_can_be_cancelled(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("pre_llm_call", '{cancel = true, reason = "over quota"}'))
    rig.load("plugin", returns("pre_llm_call", "nil", "last"))
    outcome = await rig.fire(REQUEST)
    assert outcome.blocked == Block("over quota")
    assert rig.seen == [("ran",)]


async def test_pre_llm_call_fails_open(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("pre_llm_call", '{prompt = "q"}') + 'cru.on("pre_llm_call", function() error("boom") end)\n')
    rig.load(kind, returns("pre_llm_call", "nil", "next"))
    outcome = await rig.fire(REQUEST)
    assert (outcome.value.prompt, outcome.decision) == ("q", None)
    assert rig.seen == [("ran",), ("next",)]


async def test_case_093_what_post_llm_call_returns_is_ignored(rig: LuaRig, kind: str) -> None:
    rig.load(kind, returns("post_llm_call", "{cancel = true}") + 'cru.on("post_llm_call", function() error("boom") end)\n')
    rig.load(
        kind,
        'cru.on("post_llm_call", function(ctx, event) '
        "seen(event.response_summary, event.model, math.type(event.duration_ms), event.duration_ms >= 0) end)",
    )
    outcome = await rig.fire(ModelResponse(session="s1", turn=0, text="reply", model="m", duration_ms=7))
    assert (outcome.decision, outcome.contributions) == (None, ())
    assert rig.seen == [("ran",), ("reply", "m", "integer", True)]
