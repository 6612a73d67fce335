"""`treblehook install` into a real agent: guards of the home decide there, and deny where they give no answer."""

import pytest

from tests.real_agents.guarded import Guarded
from tests.real_agents.home_hooks import FAILING, GUARDS, answers, lua_guard
from tests.real_agents.launch import Client
from tests.real_agents.scenarios import LAST_WORDS, MARK, TREASURE, leaves_mark
from treblehook.gateway.install.places import settings_file

REASON = "the treasure stays where it is"


@pytest.mark.parametrize("guard", GUARDS)
def test_a_denied_call_does_not_run_and_the_model_is_told_why(agent: str, guard: str, client: Client, guarded: Guarded) -> None:
    GUARDS[guard](guarded, REASON)
    guarded.install()

    ran = client.run(leaves_mark(agent))

    assert not (client.workspace / MARK).exists()
    assert ran.told(REASON), ran
    assert (ran.status, len(ran.requests)) == (0, 2), ran
    assert LAST_WORDS in ran.stdout
    assert guarded.daemon() is not None, "the first call starts one"


def test_a_daemon_that_serves_already_is_the_one_that_is_asked(agent: str, client: Client, guarded: Guarded) -> None:
    lua_guard(guarded, REASON)
    guarded.install()
    served = guarded.serve()

    ran = client.run(leaves_mark(agent))

    assert not (client.workspace / MARK).exists()
    assert ran.told(REASON), ran
    assert guarded.daemon() == served


def test_a_call_that_no_guard_objects_to_runs(agent: str, client: Client, guarded: Guarded) -> None:
    answers(guarded, "pre_tool_use", {"power": "observe"})
    guarded.install()

    ran = client.run(leaves_mark(agent))

    assert (client.workspace / MARK).read_text() == f"{TREASURE}\n", ran
    assert (ran.status, len(ran.requests)) == (0, 2), ran
    file = settings_file(agent, client.environ())
    assert file.name not in ran.stdout + ran.stderr, "the agent has nothing to say of what was installed"


@pytest.mark.parametrize("failing", FAILING)
def test_a_closed_guard_that_gives_no_answer_denies(agent: str, failing: str, client: Client, guarded: Guarded) -> None:
    FAILING[failing](guarded)
    guarded.install()

    ran = client.run(leaves_mark(agent))

    assert not (client.workspace / MARK).exists()
    assert (ran.status, len(ran.requests)) == (0, 2), ran
    assert not ran.told(TREASURE)


def test_what_a_rule_wants_asked_does_not_run_where_nobody_can_be_asked(agent: str, client: Client, guarded: Guarded) -> None:
    guarded.config('[permissions]\nask = ["bash"]\n')
    guarded.install()

    ran = client.run(leaves_mark(agent))

    assert not (client.workspace / MARK).exists()
    assert (ran.status, len(ran.requests)) == (0, 2), ran
    assert not ran.told(TREASURE)
