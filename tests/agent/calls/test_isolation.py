"""Tools that are claimed for isolation run on the host only where a hook has taken the call over (crucible.md 3.20, step 5)."""

from pathlib import Path

import pytest

from tests.support.call_rig import CallRig
from tests.support.contract_stubs import lua
from treblehook.engine import Dispatcher, Journal
from treblehook.host.calls import CallPath
from treblehook.host.facts import SessionFacts
from treblehook.host.isolation import Isolation
from treblehook.host.permission import Verdict
from treblehook.lifecycle import Allow, Block, PermissionRequest, PreToolCall, Replace, Rewrite, ToolCall


@pytest.fixture
def isolation() -> Isolation:
    return Isolation()


@pytest.fixture
def isolated(tmp_path: Path, isolation: Isolation) -> CallRig:
    rig = CallRig(tmp_path / "results")
    dispatcher = Dispatcher(rig.registry, background=rig.background, journal=Journal())
    rig.path = CallPath(dispatcher, SessionFacts("s1", "/ws"), {"dig": rig.dig, "shell": rig.shell}, rig, rig, tmp_path, isolation)
    return rig


async def test_a_claimed_tool_does_not_run_and_the_model_is_told_who_wants_that(isolated: CallRig, isolation: Isolation) -> None:
    isolation.require("oci", ["shell"], "this session works in a container")
    isolated.verdict_of = lambda call: Verdict("ask")
    isolated.on(PermissionRequest, Allow())

    outcome = await isolated.take("shell", command="ls")

    assert (outcome.ran, outcome.is_error) == (False, True)
    assert outcome.content == (
        "oci requires isolation for shell, and no hook has taken this call over: this session works in a container\n\nThe tool did not run."
    )
    assert isolated.log == ["ToolProposed", "PreToolCall", "announces", "tells"]
    assert (await isolated.take("dig")).ran


async def test_a_call_that_a_hook_replaces_is_none_of_its_business(isolated: CallRig, isolation: Isolation) -> None:
    isolation.require("oci", ["shell"], "")
    isolated.registry.add(lua(PreToolCall, Replace("from the container")))

    outcome = await isolated.take("shell", command="ls")

    assert (outcome.content, outcome.is_error) == ("from the container", False)


async def test_a_rewrite_is_no_replacement_and_a_block_keeps_its_reason(isolated: CallRig, isolation: Isolation) -> None:
    isolation.require("oci", ["shell"], "")
    isolated.on(PreToolCall, lambda event: Rewrite(input={"command": "ls -l"}))

    assert not (await isolated.take("shell", command="ls")).ran

    isolated.on(PreToolCall, Block("not at all"))
    assert (await isolated.take("shell", command="ls")).content == "not at all"


async def test_a_hooks_own_call_is_held_to_it(isolated: CallRig, isolation: Isolation) -> None:
    isolation.require("oci", ["shell"], "")

    output = await isolated.path.call_for_hook(ToolCall("h1", "shell", {"command": "ls"}), frozenset({"shell"}))

    assert (output.is_error, isolated.shell.ran) == (True, [])
    assert output.content.startswith("oci requires isolation for shell, and no hook has taken this call over.\n")


def owners(isolation: Isolation, *tools: str, session: str = "s1") -> list[str | None]:
    claims = [isolation.claim_on(session, tool) for tool in tools]
    return [claim.owner if claim else None for claim in claims]


def test_a_claim_is_on_one_session_or_on_all(isolation: Isolation) -> None:
    isolation.require("one", ["dig"], "", session="s1")
    isolation.require("all", ["shell"], "")

    assert owners(isolation, "dig", "shell") == ["one", "all"]
    assert owners(isolation, "dig", "shell", session="s2") == [None, "all"]


def test_claims_of_one_owner_add_up(isolation: Isolation) -> None:
    isolation.require("oci", ["dig"], "")
    isolation.require("oci", ["shell"], "")

    assert owners(isolation, "dig", "shell") == ["oci", "oci"]


def test_an_owner_that_is_loaded_again_claims_anew(isolation: Isolation) -> None:
    isolation.require("oci", ["dig", "shell"], "")
    isolation.require("other", ["read"], "")

    with isolation.renewed("oci"):
        assert owners(isolation, "dig", "shell") == ["oci", "oci"]
        isolation.require("oci", ["shell"], "")

    assert owners(isolation, "dig", "shell", "read") == [None, "oci", "other"]


def test_a_claim_outlives_an_owner_that_fails_to_load_again(isolation: Isolation) -> None:
    isolation.require("oci", ["shell"], "")

    with pytest.raises(ValueError, match="syntax"), isolation.renewed("oci"):
        raise ValueError("syntax")

    assert owners(isolation, "shell") == ["oci"]


def test_a_claim_on_an_open_session_outlives_a_reload_and_ends_with_the_session(isolation: Isolation) -> None:
    isolation.require("oci", ["shell"], "", session="s1")
    isolation.require("oci", ["shell"], "", session="s2")

    with isolation.renewed("oci"):
        pass
    isolation.end_session("s2")

    assert owners(isolation, "shell") == ["oci"]
    assert owners(isolation, "shell", session="s2") == [None]


def test_an_owner_that_is_gone_wants_nothing(isolation: Isolation) -> None:
    isolation.require("oci", ["shell"], "")
    isolation.require("oci", ["shell"], "", session="s1")

    isolation.clear("oci")

    assert owners(isolation, "shell") == [None]
