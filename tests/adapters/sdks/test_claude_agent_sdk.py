"""The guard for the Claude Agent SDK, in its own Claude Code: what every adapter does."""

import json
from collections.abc import AsyncIterator
from typing import Any

from tests.adapters.sdks.claude_ship import REPLY, Ship, fake_model, ship
from treblehook import (
    AddContext,
    Block,
    Continue,
    Event,
    Hooks,
    PreToolCall,
    PromptSubmitted,
    Refuse,
    Replace,
    Rewrite,
    SessionEnd,
    SessionStart,
    ToolFinished,
    ToolRan,
    TurnComplete,
    TurnEnding,
)

__all__ = ["fake_model", "ship"]


async def test_without_an_answer_nothing_changes(ship: Ship) -> None:
    ship.play(("Bash", {"command": "echo gold > chest; cat chest"}))
    await ship.run(Hooks())
    assert (ship.folder / "chest").exists()
    assert "gold" in ship.requests()[1]
    assert ship.reply == REPLY


async def test_a_blocked_call_does_not_run_and_the_model_sees_why(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="bash")
    def guard(event: PreToolCall) -> Block:
        return Block(f"not {event.call.input['command']}")

    ship.play(("Bash", {"command": "touch chest"}))
    await ship.run(hooks, permission_mode="bypassPermissions")
    assert not (ship.folder / "chest").exists()
    assert "not touch chest" in ship.requests()[1]
    assert ship.reply == REPLY


async def test_a_rewritten_call_runs_rewritten_under_its_own_keys(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="write")
    def other(event: PreToolCall) -> Rewrite:
        return Rewrite(input={**event.call.input, "path": str(ship.folder / "other"), "content": "silver"})

    ship.play(("Write", {"file_path": str(ship.folder / "chest"), "content": "gold"}))
    await ship.run(hooks)
    assert not (ship.folder / "chest").exists()
    assert (ship.folder / "other").read_text() == "silver"


async def test_a_replaced_call_gives_the_hooks_result(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, pattern="mcp__ship__shout")
    def instead(event: PreToolCall) -> Replace:
        return Replace("from the cache")

    ship.play(("mcp__ship__shout", {"text": "hey"}))
    await ship.run(hooks)
    assert ship.shouted == []
    assert "from the cache" in ship.requests()[1]


async def test_patched_results_reach_the_model(ship: Ship) -> None:
    hooks, told = Hooks(), []

    @hooks.on(ToolFinished)
    def redact(event: ToolFinished) -> Rewrite:
        told.append((event.call.name, event.content.strip()))
        return Rewrite(content=event.content.replace("hunter2", "[redacted]").replace("HUNTER2", "[redacted]"))

    (ship.folder / "chest").write_text("hunter2")
    ship.play(
        ("Bash", {"command": "echo hunter2 | cat"}),
        ("Read", {"file_path": str(ship.folder / "chest")}),
        ("mcp__ship__shout", {"text": "hunter" + "2"}),
    )
    await ship.run(hooks)
    assert told == [("bash", "hunter2"), ("read", "hunter2"), ("mcp__ship__shout", "HUNTER2")]
    results = json.dumps([_results(row) for row in ship.requests()])
    assert results.count("[redacted]") == 1 + 2 + 3
    assert "hunter2" not in results
    assert "HUNTER2" not in results


def _results(request: str) -> list[Any]:
    blocks = [block for message in json.loads(request) for block in message["content"] if isinstance(block, dict)]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


async def test_a_result_that_cannot_be_replaced_is_withheld(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(ToolFinished)
    def redact(event: ToolFinished) -> Rewrite:
        return Rewrite(content="[redacted]")

    ship.play(("Write", {"file_path": str(ship.folder / "chest"), "content": "gold"}))
    await ship.run(hooks)
    assert len(ship.requests()) == 1


async def test_a_command_that_fails_is_told_with_its_status(ship: Ship) -> None:
    hooks, told = Hooks(), []

    @hooks.on(ToolFinished)
    def more(event: ToolFinished) -> Rewrite:
        told.append((event.is_error, event.content))
        return Rewrite(content=event.content + "\nThe hull is gone.")

    ship.play(("Bash", {"command": "echo oh; exit 3"}))
    await ship.run(hooks)
    assert told[0][0]
    assert "Exit code 3" in told[0][1]
    assert "The hull is gone." in ship.requests()[1]


async def test_context_reaches_the_model_that_of_the_start_once(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(SessionStart)
    def begin(event: SessionStart) -> AddContext:
        return AddContext("The island is Norman.")

    @hooks.on(PromptSubmitted)
    def more(event: PromptSubmitted) -> AddContext:
        return AddContext(f"That was: {event.prompt}.")

    await ship.run(hooks, ["ahoy", "and now"])
    first, second = ship.requests()
    assert "The island is Norman." in first
    assert "That was: ahoy." in first
    assert "That was: and now." in second
    assert second.count("The island is Norman.") == 1


async def test_a_blocked_prompt_does_not_reach_the_model(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(PromptSubmitted)
    def no(event: PromptSubmitted) -> Block | None:
        return Block("not a word of it") if "password" in event.prompt else None

    await ship.run(hooks, ["my password"])
    assert ship.requests() == []
    assert "not a word of it" in ship.reply


async def test_a_refused_session_reaches_no_model(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(SessionStart)
    def no(event: SessionStart) -> Refuse:
        return Refuse("closed on Sundays")

    await ship.run(hooks)
    assert ship.requests() == []
    assert "closed on Sundays" in ship.reply


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def picture() -> AsyncIterator[dict[str, Any]]:
    """A prompt without a word."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    yield {"type": "user", "message": {"role": "user", "content": [image]}, "parent_tool_use_id": None}


async def test_a_refused_session_shows_no_picture_either(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(SessionStart)
    def no(event: SessionStart) -> Refuse:
        return Refuse("closed on Sundays")

    await ship.run(hooks, [picture()])
    assert ship.requests() == []


async def test_the_model_is_sent_back_once(ship: Ship) -> None:
    hooks, ending = Hooks(), []

    @hooks.on(TurnEnding)
    def again(event: TurnEnding) -> Continue:
        ending.append((event.reply, event.prompt, event.continuations))
        return Continue("Name the palm.")

    await ship.run(hooks)
    assert ending == [(REPLY, "hello", 0), (REPLY, "hello", 1)]
    assert ["Name the palm." in request for request in ship.requests()] == [False, True]


async def test_every_row_is_told_in_order(ship: Ship) -> None:
    hooks, told = Hooks(), []
    for kind in (SessionStart, PromptSubmitted, PreToolCall, ToolFinished, ToolRan, TurnEnding, TurnComplete, SessionEnd):
        hooks.on(kind)(lambda event: told.append(event))
    ship.play(("mcp__ship__shout", {"text": "hey"}))
    await ship.run(hooks)
    assert [type(event).__name__ for event in told] == [
        "SessionStart",
        "PromptSubmitted",
        "PreToolCall",
        "ToolFinished",
        "ToolRan",
        "TurnEnding",
        "TurnComplete",
        "SessionEnd",
    ]
    assert len({event.session for event in told}) == 1
    assert (told[-1].turns, told[-1].tool_calls) == (1, 1)


async def test_failing_open_hooks_change_nothing(ship: Ship) -> None:
    hooks, asked = Hooks(), set()

    def fails(event: Event) -> None:
        asked.add(type(event))
        raise LookupError("lost at sea")

    kinds = {SessionStart, PromptSubmitted, PreToolCall, ToolFinished, TurnEnding, TurnComplete, SessionEnd}
    for kind in kinds:
        hooks.on(kind)(fails)
    ship.play(("mcp__ship__shout", {"text": "hey"}))
    await ship.run(hooks)
    assert asked == kinds
    assert ship.shouted == ["hey"]
    assert "lost at sea" not in "".join(ship.requests())
    assert ship.reply == REPLY


async def test_a_failing_closed_hook_blocks(ship: Ship) -> None:
    hooks = Hooks()

    @hooks.on(PreToolCall, on_error="closed", name="guard")
    def fails(event: PreToolCall) -> None:
        raise LookupError("lost at sea")

    ship.play(("mcp__ship__shout", {"text": "hey"}))
    await ship.run(hooks)
    assert ship.shouted == []
    assert "guard" in ship.requests()[1]
    assert ship.reply == REPLY
