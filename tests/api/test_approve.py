"""Who answers the permission prompts of a program's session."""

import asyncio
from typing import Any

import pytest

from tests.support.program import Program, bash, of
from treblehook import Home, ToolCall, run


def ran(program: Program, **options: Any) -> bool:
    program.plays(bash("touch chest"), {"text": "Done."})
    reply = run("go", **program.places, **options)
    done = (program.workspace / "chest").exists()
    assert of(reply, "tool_result")[0]["ran"] is done
    return done


def test_a_program_says_no_unless_it_is_told_otherwise(program: Program) -> None:
    assert not ran(program)
    assert not ran(program, approve="never")


def test_always(program: Program) -> None:
    assert ran(program, approve="always")


@pytest.mark.parametrize("answer", [True, False])
def test_a_function_decides_on_the_call_as_it_would_run(program: Program, answer: bool) -> None:
    calls: list[ToolCall] = []

    def approve(call: ToolCall) -> bool:
        calls.append(call)
        return answer

    assert ran(program, approve=approve) is answer
    assert [(call.name, call.input) for call in calls] == [("bash", {"command": "touch chest"})]


def test_an_async_function_decides_too(program: Program) -> None:
    async def approve(call: ToolCall) -> bool:
        await asyncio.sleep(0)
        return True

    assert ran(program, approve=approve)


def test_another_word_is_refused_before_anything_starts(program: Program) -> None:
    with pytest.raises(ValueError, match=r"'ask'.*allowed: 'never', 'always'"):
        run("go", **program.places, approve="ask")

    assert not (program.home / "sessions").exists()


async def test_a_function_that_raises_approves_nothing_and_the_program_learns_it(program: Program) -> None:
    program.plays(bash("touch chest"), bash("touch chest"), {"text": "Done."}, {"text": "Fine."})
    asked = 0

    def approve(call: ToolCall) -> bool:
        nonlocal asked
        asked += 1
        raise OSError("nobody at the door")

    async with Home(program.home) as home:
        session = await program.session(home, approve=approve)
        with pytest.raises(OSError, match="nobody at the door"):
            await session.prompt("go")
        assert (asked, (program.workspace / "chest").exists()) == (1, False)
        assert (await session.prompt("and now?")).text == "Fine."


def test_an_answer_that_is_neither_yes_nor_no_is_an_error(program: Program) -> None:
    program.plays(bash("touch chest"), {"text": "Done."})

    with pytest.raises(TypeError, match="returned 'no' for bash"):
        run("go", **program.places, approve=lambda call: "no")

    assert not (program.workspace / "chest").exists()
