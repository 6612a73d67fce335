"""A gateway that is gone: a closed guard denies, an open one lets pass and says so."""

import json
import subprocess

from tests.real_agents.guarded import Guarded
from tests.real_agents.home_hooks import extension_guard, lua_guard
from tests.real_agents.launch import Client, Ran
from tests.real_agents.scenarios import MARK, TREASURE, leaves_mark

REASON = "the treasure stays where it is"
UNASKED = "the hooks were not asked"


def test_a_daemon_that_was_killed_is_followed_by_another(agent: str, client: Client, guarded: Guarded) -> None:
    lua_guard(guarded, REASON)
    guarded.install()
    first = guarded.serve()
    guarded.kill_daemon()

    ran = client.run(leaves_mark(agent))

    assert not (client.workspace / MARK).exists()
    assert ran.told(REASON), ran
    assert guarded.daemon() not in (None, first)


def test_a_closed_guard_denies_where_treblehook_is_gone(agent: str, client: Client, guarded: Guarded) -> None:
    lua_guard(guarded, REASON)
    guarded.install()
    guarded.serve()
    guarded.unreachable()

    _is_denied(client, client.run(leaves_mark(agent)))


def test_a_closed_guard_denies_where_the_home_does_not_load(agent: str, client: Client, guarded: Guarded) -> None:
    lua_guard(guarded, REASON)
    guarded.install()
    guarded.broken()

    _is_denied(client, client.run(leaves_mark(agent)))


def test_what_a_rule_wants_asked_does_not_run_where_treblehook_is_gone(agent: str, client: Client, guarded: Guarded) -> None:
    guarded.config('[permissions]\nask = ["bash"]\n')
    guarded.install()
    guarded.serve()
    guarded.unreachable()

    _is_denied(client, client.run(leaves_mark(agent)))


def test_an_open_guard_lets_pass_and_says_so(agent: str, client: Client, guarded: Guarded) -> None:
    extension_guard(guarded, REASON)
    guarded.install()
    guarded.serve()
    guarded.unreachable()

    ran = client.run(leaves_mark(agent))

    assert (client.workspace / MARK).read_text() == f"{TREASURE}\n", ran
    assert (ran.status, len(ran.requests)) == (0, 2), ran
    assert not any("treblehook" in request.text for request in ran.requests), "it is the user whom it is said to"
    lines = guarded.lines()
    if not lines:
        assert UNASKED in ran.stderr, ran
    for line in lines:
        said = subprocess.run(["sh", "-c", line], input="{}", capture_output=True, text=True, check=True)
        assert UNASKED in json.loads(said.stdout)["systemMessage"]
        assert UNASKED in said.stderr


def _is_denied(client: Client, ran: Ran) -> None:
    assert not (client.workspace / MARK).exists()
    assert (ran.status, len(ran.requests)) == (0, 2), ran
    # Copilot's own words for a hook that exits with 2 begin with a capital.
    assert ran.told("enied"), ran
    assert not ran.told(TREASURE)
