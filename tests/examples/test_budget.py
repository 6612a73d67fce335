"""examples/budget"""

import asyncio
from collections.abc import Callable

from tests.examples.conftest import Place
from tests.support.program import bash, of
from treblehook import Home, Reply, run


def limited(place: Place, unit: str, phase: str) -> None:
    place.config([{"phase": phase, "argv": ["budget", f"--{unit}", "2"], "timeout_ms": 30_000}])


def test_calls_over_the_budget_are_blocked_and_the_model_reads_why(place: Callable[[str], Place]) -> None:
    budget = place("budget")
    limited(budget, "calls", "pre_tool_use")
    budget.plays(bash("true"), bash("true"), bash("true"), {"text": "Two of three."})

    reply = run("go", **budget.arguments, approve="always")

    assert [record["ran"] for record in of(reply, "tool_result")] == [True, True, False]
    assert of(reply, "tool_result")[2]["content"].startswith("This session's budget of 2 calls is spent.")
    assert reply.text == "Two of three."


def test_turns_over_the_budget_are_blocked(place: Callable[[str], Place]) -> None:
    budget = place("budget")
    limited(budget, "turns", "pre_turn")
    budget.plays({"text": "One."}, {"text": "Two."}, {"text": "Three."})

    async def talk() -> list[Reply]:
        arguments = dict(budget.arguments)
        async with Home(arguments.pop("home")) as home:
            session = await home.session(**arguments)
            return [await session.prompt("go on") for _ in range(3)]

    assert [reply.status for reply in asyncio.run(talk())] == ["finished", "finished", "blocked"]


def test_each_session_has_its_own_budget_and_the_shipped_one_is_enough(place: Callable[[str], Place]) -> None:
    budget = place("budget")
    budget.plays(bash("true"), {"text": "Done."})

    replies = [run("go", **budget.arguments, approve="always") for _ in range(2)]

    assert [reply.text for reply in replies] == ["Done.", "Done."]
    assert sorted(path.name for path in (budget.home / "budget").iterdir()) == sorted(
        f"{reply.session}.{unit}" for reply in replies for unit in ("calls", "turns")
    )
