"""What every adapter for an SDK has to do, as one set of tests: a test class of an SDK inherits it and says how a run is made there."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from msgspec import Struct, field

from treblehook import (
    AddContext,
    Block,
    Continue,
    Event,
    Home,
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

Calls = Sequence[tuple[str, dict[str, Any]]]

REPLY = "all done"
"""What the scripted model says once its calls have results, and again whenever it is sent back."""


class Tools:
    """The tools of a user. `ran` says which were run, in order, and with what."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self._waiting = 0
        self._met = asyncio.Event()

    async def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        self.ran.append(("add", {"a": a, "b": b}))
        return a + b

    def shout(self, text: str) -> str:
        """Say it loudly."""
        self.ran.append(("shout", {"text": text}))
        return text.upper()

    def bash(self, command: str) -> str:
        """Run a command."""
        self.ran.append(("bash", {"command": command}))
        return f"ran {command}"

    async def meet(self, name: str) -> str:
        """Come back once two are here."""
        self._waiting += 1
        if self._waiting == 2:
            self._met.set()
        await asyncio.wait_for(self._met.wait(), 20)
        self.ran.append(("meet", {"name": name}))
        return f"{name} was there"

    def all(self) -> list[Callable[..., Any]]:
        """All of them."""
        return [self.add, self.shout, self.bash, self.meet]


class Seen(Struct):
    """What came of the runs: every request that the model got, as one text each; the last reply that the user got."""

    requests: list[str] = field(default_factory=list)
    reply: str = ""


class AdapterContract:
    """The tests. `runs` makes a run for each prompt, in one conversation; the first reply makes the calls, all others are `REPLY`."""

    continues: ClassVar[bool] = True
    """whether the SDK can be sent back"""

    async def runs(self, hooks: Hooks | Home, tools: Tools, calls: Calls, prompts: Sequence[str], *, stream: bool) -> Seen:
        """Make the runs, then close the adapter."""
        raise NotImplementedError

    @pytest.fixture(params=[False, True], ids=["whole", "streamed"])
    def stream(self, request: pytest.FixtureRequest) -> bool:
        """Whether replies are streamed."""
        found: bool = request.param
        return found

    async def test_without_an_answer_nothing_changes(self, stream: bool) -> None:
        tools = Tools()
        seen = await self.runs(Hooks(), tools, [("add", {"a": 1, "b": 2}), ("shout", {"text": "hey"})], ["hello"], stream=stream)
        assert sorted(tools.ran) == [("add", {"a": 1, "b": 2}), ("shout", {"text": "hey"})]
        assert len(seen.requests) == 2
        assert "hello" in seen.requests[0]
        assert "HEY" in seen.requests[1]
        assert REPLY in seen.reply

    async def test_a_blocked_call_does_not_run_and_the_model_sees_why(self, stream: bool) -> None:
        hooks, tools = Hooks(), Tools()

        @hooks.on(PreToolCall, pattern="bash")
        def guard(event: PreToolCall) -> Block:
            return Block(f"not {event.call.input['command']}")

        seen = await self.runs(hooks, tools, [("bash", {"command": "rm -rf sea"}), ("shout", {"text": "hey"})], ["hello"], stream=stream)
        assert tools.ran == [("shout", {"text": "hey"})]
        assert "not rm -rf sea" in seen.requests[1]
        assert REPLY in seen.reply

    async def test_a_rewritten_call_runs_rewritten(self, stream: bool) -> None:
        hooks, tools = Hooks(), Tools()

        @hooks.on(PreToolCall, pattern="add")
        def other(event: PreToolCall) -> Rewrite:
            return Rewrite(input={"a": 4000, "b": 2})

        @hooks.on(PreToolCall, pattern="shout")
        def louder(event: PreToolCall) -> Rewrite:
            return Rewrite(input={"text": event.call.input["text"] + "!!"})

        seen = await self.runs(hooks, tools, [("add", {"a": 1, "b": 2}), ("shout", {"text": "hey"})], ["hello"], stream=stream)
        assert sorted(tools.ran) == [("add", {"a": 4000, "b": 2}), ("shout", {"text": "hey!!"})]
        assert "4002" in seen.requests[1]
        assert "HEY!!" in seen.requests[1]

    async def test_a_replaced_call_gives_the_hooks_result(self) -> None:
        hooks, tools = Hooks(), Tools()

        @hooks.on(PreToolCall, pattern="bash")
        def instead(event: PreToolCall) -> Replace:
            return Replace("from the cache")

        seen = await self.runs(hooks, tools, [("bash", {"command": "ls"})], ["hello"], stream=False)
        assert tools.ran == []
        assert "from the cache" in seen.requests[1]

    async def test_a_patched_result_reaches_the_model(self, stream: bool) -> None:
        hooks, tools = Hooks(), Tools()
        finished: list[ToolFinished] = []

        @hooks.on(ToolFinished)
        def redact(event: ToolFinished) -> Rewrite:
            finished.append(event)
            return Rewrite(content=event.content.replace("HUNTER2", "[redacted]").replace("3", "three"))

        seen = await self.runs(hooks, tools, [("shout", {"text": "hunter2"}), ("add", {"a": 1, "b": 2})], ["hello"], stream=stream)
        assert "[redacted]" in seen.requests[1]
        assert "HUNTER2" not in seen.requests[1]
        assert "three" in seen.requests[1]
        assert {(event.call.name, event.content, event.is_error) for event in finished} == {
            ("shout", "HUNTER2", False),
            ("add", "3", False),
        }

    async def test_context_reaches_the_model_that_of_the_start_once(self, stream: bool) -> None:
        hooks = Hooks()

        @hooks.on(SessionStart)
        def begin(event: SessionStart) -> AddContext:
            return AddContext("The island is Norman.")

        @hooks.on(PromptSubmitted)
        def more(event: PromptSubmitted) -> AddContext:
            return AddContext(f"That was: {event.prompt}.")

        seen = await self.runs(hooks, Tools(), [], ["ahoy", "and now"], stream=stream)
        assert len(seen.requests) == 2
        assert "The island is Norman." in seen.requests[0]
        assert "That was: ahoy." in seen.requests[0]
        assert "That was: and now." in seen.requests[1]
        assert seen.requests[1].count("The island is Norman.") <= 1

    async def test_a_blocked_prompt_does_not_reach_the_model(self, stream: bool) -> None:
        hooks = Hooks()

        @hooks.on(PromptSubmitted)
        def no(event: PromptSubmitted) -> Block | None:
            return Block("not a word of it") if "password" in event.prompt else None

        seen = await self.runs(hooks, Tools(), [], ["my password"], stream=stream)
        assert seen.requests == []
        assert "not a word of it" in seen.reply

    async def test_a_blocked_prompt_does_not_reach_the_model_with_the_next_one(self, stream: bool) -> None:
        hooks = Hooks()

        @hooks.on(PromptSubmitted)
        def no(event: PromptSubmitted) -> Block | None:
            return Block("not a word of it") if "hunter2" in event.prompt else None

        seen = await self.runs(hooks, Tools(), [], ["it is hunter2", "ahoy"], stream=stream)
        assert len(seen.requests) == 1
        assert "ahoy" in seen.requests[0]
        assert "hunter2" not in seen.requests[0]
        assert REPLY in seen.reply

    async def test_a_refused_session_reaches_no_model(self) -> None:
        hooks = Hooks()

        @hooks.on(SessionStart)
        def no(event: SessionStart) -> Refuse:
            return Refuse("closed on Sundays")

        seen = await self.runs(hooks, Tools(), [("bash", {"command": "ls"})], ["hello"], stream=False)
        assert seen.requests == []
        assert "closed on Sundays" in seen.reply

    @pytest.mark.parametrize("event", [SessionStart, PromptSubmitted, PreToolCall, ToolFinished, TurnEnding, TurnComplete, SessionEnd])
    async def test_a_failing_open_hook_changes_nothing(self, event: type[Event]) -> None:
        hooks, tools = Hooks(), Tools()
        asked: list[Event] = []

        def fails(event: Any) -> None:
            asked.append(event)
            raise LookupError("lost at sea")

        hooks.on(event)(fails)
        seen = await self.runs(hooks, tools, [("shout", {"text": "hey"})], ["hello"], stream=False)
        assert asked
        assert tools.ran == [("shout", {"text": "hey"})]
        assert "HEY" in seen.requests[1]
        assert "lost at sea" not in "".join(seen.requests)
        assert REPLY in seen.reply

    async def test_a_failing_closed_hook_blocks(self, stream: bool) -> None:
        hooks, tools = Hooks(), Tools()

        @hooks.on(PreToolCall, pattern="bash", on_error="closed", name="guard")
        def fails(event: PreToolCall) -> None:
            raise LookupError("lost at sea")

        seen = await self.runs(hooks, tools, [("bash", {"command": "ls"}), ("shout", {"text": "hey"})], ["hello"], stream=stream)
        assert tools.ran == [("shout", {"text": "hey"})]
        assert "guard" in seen.requests[1]
        assert REPLY in seen.reply

    async def test_a_failing_closed_hook_blocks_the_prompt(self) -> None:
        hooks = Hooks()

        @hooks.on(PromptSubmitted, on_error="closed", name="guard")
        def fails(event: PromptSubmitted) -> None:
            raise LookupError("lost at sea")

        seen = await self.runs(hooks, Tools(), [], ["hello"], stream=False)
        assert seen.requests == []
        assert "guard" in seen.reply

    async def test_calls_that_run_side_by_side(self) -> None:
        hooks, tools = Hooks(), Tools()

        @hooks.on(PreToolCall)
        async def other(event: PreToolCall) -> Rewrite:
            return Rewrite(input={"name": event.call.input["name"] * 2})

        @hooks.on(ToolFinished)
        async def patched(event: ToolFinished) -> Rewrite:
            return Rewrite(content=f"{event.content} at last")

        seen = await self.runs(hooks, tools, [("meet", {"name": "ab"}), ("meet", {"name": "xy"})], ["hello"], stream=False)
        assert sorted(call["name"] for _, call in tools.ran) == ["abab", "xyxy"]
        assert "abab was there at last" in seen.requests[1]
        assert "xyxy was there at last" in seen.requests[1]

    async def test_the_model_is_sent_back_once(self, stream: bool) -> None:
        hooks = Hooks()
        ending: list[TurnEnding] = []

        @hooks.on(TurnEnding)
        def again(event: TurnEnding) -> Continue:
            ending.append(event)
            return Continue("Name the palm.")

        seen = await self.runs(hooks, Tools(), [], ["hello"], stream=stream)
        assert ending[0].reply == REPLY
        assert ending[0].prompt == "hello"
        if self.continues:
            assert len(seen.requests) == 2
            assert "Name the palm." in seen.requests[1]
            assert [event.continuations for event in ending] == [0, 1]
        else:
            assert len(seen.requests) == 1

    async def test_every_row_is_told_in_order(self) -> None:
        hooks, told = Hooks(), []
        for kind in (SessionStart, PromptSubmitted, PreToolCall, ToolFinished, ToolRan, TurnEnding, TurnComplete, SessionEnd):
            hooks.on(kind)(lambda event: told.append(event))
        await self.runs(hooks, Tools(), [("shout", {"text": "hey"})], ["hello"], stream=False)
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

    async def test_a_home_with_an_executable_guards_the_tools(self, tmp_path: Path, stream: bool) -> None:
        folder = home_that_blocks(tmp_path, tool="bash", reason="no shells aboard")
        tools = Tools()
        async with Home(folder) as home:
            seen = await self.runs(home, tools, [("bash", {"command": "ls"}), ("shout", {"text": "hey"})], ["hello"], stream=stream)
        assert tools.ran == [("shout", {"text": "hey"})]
        assert "no shells aboard" in seen.requests[1]
        assert REPLY in seen.reply


def home_that_blocks(folder: Path, *, tool: str, reason: str) -> Path:
    """A home with one executable hook that blocks `tool`."""
    script = folder / "home" / "hooks" / "guard"
    script.parent.mkdir(parents=True)
    script.write_text(f"""#!/bin/sh
if grep -q '"{tool}"'; then echo '{{"power": "block", "reason": "{reason}"}}'; else echo '{{"power": "observe"}}'; fi
""")
    script.chmod(0o755)
    (folder / "home" / "config.json").write_text('{"hooks": [{"phase": "pre_tool_use", "argv": ["guard"], "timeout_ms": 30000}]}')
    return folder / "home"
