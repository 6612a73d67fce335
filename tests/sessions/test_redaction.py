"""What a hook took out is nowhere below `<home>/sessions`, while whoever listens still sees what hooks did (design, sections 5 and 6)."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.nest import HELD, OBSERVE, Nest, agent, bash, says
from treblehook.agent.models.model import ModelReply
from treblehook.contracts.python import Hooks
from treblehook.lifecycle import PreToolCall, Replace, Rewrite, ToolCall, ToolFinished, ToolProposed

SECRET = "hunter2-hunter2"
CLEAN = {"command": "echo clean"}


def patch(text: str) -> dict[str, Any]:
    return {"power": "mutate", "patch": {"content": [{"type": "text", "text": text}]}}


def input_by_executable(nest: Nest, hooks: Hooks) -> None:
    nest.hook("pre_tool_use", "redact", says({"power": "mutate", "input": CLEAN}))


def input_by_row_10_function(nest: Nest, hooks: Hooks) -> None:
    hooks.on(ToolProposed)(lambda event: Rewrite(input=CLEAN))


def input_by_row_11_function(nest: Nest, hooks: Hooks) -> None:
    hooks.on(PreToolCall)(lambda event: Rewrite(input=CLEAN))


def input_that_a_hook_had_made_worse(nest: Nest, hooks: Hooks) -> None:
    nest.hook("pre_tool_use", "worse", says({"power": "mutate", "input": {"command": f"echo {SECRET} {SECRET}"}}))
    nest.hook("pre_tool_use", "redact", says({"power": "mutate", "input": CLEAN}))


def input_of_a_call_that_is_blocked(nest: Nest, hooks: Hooks) -> None:
    nest.hook("pre_tool_use", "redact", says({"power": "mutate", "input": CLEAN}))
    nest.hook("pre_tool_use", "guard", says({"power": "block", "reason": "no"}))


def input_of_a_call_that_is_replaced(nest: Nest, hooks: Hooks) -> None:
    hooks.on(PreToolCall)(lambda event: Rewrite(input=CLEAN))
    hooks.on(PreToolCall)(lambda event: Replace("made up"))


@pytest.mark.parametrize(
    "redact",
    [
        input_by_executable,
        input_by_row_10_function,
        input_by_row_11_function,
        input_that_a_hook_had_made_worse,
        input_of_a_call_that_is_blocked,
        input_of_a_call_that_is_replaced,
    ],
)
async def test_an_input_that_was_rewritten(nest: Nest, redact: Callable[[Nest, Hooks], None]) -> None:
    hooks = Hooks()
    redact(nest, hooks)
    call = ToolCall("call_1", "bash", {"command": f"echo {SECRET}"})
    nest.replies.append(ModelReply("", (call,), "tools", raw=json.dumps({"signed": call.input})))
    session = await nest.open(hooks=hooks)

    await session.prompt("go")
    assert SECRET.encode() not in nest.on_disk()
    await session.finish("detached")

    assert SECRET.encode() not in nest.on_disk()
    (shown,) = nest.ears.of("tool_call")
    assert (shown["asked"], shown["input"]) == (call.input, CLEAN)
    (stored,) = [record for record in nest.stored(session) if record["type"] == "tool_call"]
    assert (stored["input"], stored["left_out"]) == (CLEAN, ["asked"])
    again = await nest.open(resume=session.id)
    assert again.state.conversation.messages[1].calls[0].input == CLEAN
    assert again.state.conversation.messages[1].raw == ""


def result_by_executable(nest: Nest, hooks: Hooks) -> None:
    nest.hook("post_tool_use", "redact", says(patch("clean")))


def result_by_function(nest: Nest, hooks: Hooks) -> None:
    hooks.on(ToolFinished)(lambda event: Rewrite(content="clean"))


def result_that_a_hook_had_made_worse(nest: Nest, hooks: Hooks) -> None:
    nest.hook("post_tool_use", "worse", says(patch(f"{SECRET} {SECRET}")))
    nest.hook("post_tool_use", "redact", says(patch("clean")))


def result_that_was_replaced_before(nest: Nest, hooks: Hooks) -> None:
    nest.hook(
        "pre_tool_use", "instead", says({"power": "replace", "result": {"content": [{"type": "text", "text": SECRET}], "isError": False}})
    )
    nest.hook("post_tool_use", "redact", says(patch("clean")))


def result_that_was_replaced_at_row_11(nest: Nest, hooks: Hooks) -> None:
    hooks.on(PreToolCall)(lambda event: Replace(SECRET))
    hooks.on(ToolFinished)(lambda event: Rewrite(content="clean"))


@pytest.mark.parametrize("size", [1, 10_000], ids=["small", "spilled"])
@pytest.mark.parametrize(
    "redact",
    [
        result_by_executable,
        result_by_function,
        result_that_a_hook_had_made_worse,
        result_that_was_replaced_before,
        result_that_was_replaced_at_row_11,
    ],
)
async def test_a_result_that_was_patched(nest: Nest, redact: Callable[[Nest, Hooks], None], size: int) -> None:
    hooks = Hooks()
    redact(nest, hooks)
    (nest.workspace / "key").write_text(f"{SECRET}\n" * size)
    nest.plays(bash("cat key"), {"text": "Done."})
    session = await nest.open(hooks=hooks)

    await session.prompt("go")
    assert SECRET.encode() not in nest.on_disk()
    await session.finish("detached")

    assert SECRET.encode() not in nest.on_disk()
    assert [result["content"] for result in nest.ears.of("tool_result")] == ["clean"]
    assert session.state.conversation.messages[2].text == "clean"


async def test_whoever_listens_sees_what_each_hook_did(nest: Nest) -> None:
    """The records of `--output jsonl` are whole; those of the file name what they leave out."""
    hooks = Hooks()
    result_that_a_hook_had_made_worse(nest, hooks)
    nest.plays(bash("true"))
    session = await nest.open(hooks=hooks)

    await session.prompt("go")

    shown = [record["decision"] for record in nest.ears.of("hook")]
    stored = [record["decision"] for record in nest.stored(session) if record["type"] == "hook"]
    assert [decision["content"] for decision in shown] == [f"{SECRET} {SECRET}", "clean"]
    assert stored == [{"type": "rewrite", "left_out": ["content"]}] * 2


async def test_a_subagents_file_is_clean_too(nest: Nest) -> None:
    nest.answers("pre_tool_use", "redact", {'"bash"': {"power": "mutate", "input": CLEAN}})
    nest.plays(agent("dig"), routes=[{"match": "dig", "turns": [bash(f"echo {SECRET}"), {"text": "Dug."}]}])
    session = await nest.open()

    await session.prompt("go")
    await session.finish("detached")

    assert len(list((nest.folder / "sessions").glob("*.jsonl"))) == 2
    assert [record["asked"]["command"] for record in nest.ears.of("tool_call") if record["name"] == "bash"] == [f"echo {SECRET}"]
    assert SECRET.encode() not in nest.on_disk()


async def before_the_executable_has_answered(nest: Nest, hooks: Hooks) -> Callable[[], Awaitable[None]]:
    nest.hook("pre_tool_use", "redact", HELD + says({"power": "mutate", "input": CLEAN}))
    return lambda: nest.started("redact")


async def before_the_function_has_answered(nest: Nest, hooks: Hooks) -> Callable[[], Awaitable[None]]:
    reached = asyncio.Event()

    @hooks.on(PreToolCall)
    async def redact(event: PreToolCall) -> Rewrite:
        reached.set()
        await asyncio.Event().wait()
        return Rewrite(input=CLEAN)

    async def wait() -> None:
        await reached.wait()

    return wait


async def before_the_result_is_patched(nest: Nest, hooks: Hooks) -> Callable[[], Awaitable[None]]:
    hooks.on(PreToolCall)(lambda event: Rewrite(input={"command": "cat key"}))
    nest.hook("post_tool_use", "redact", HELD + says(patch("clean")))
    return lambda: nest.started("redact")


@pytest.mark.parametrize("point", [before_the_executable_has_answered, before_the_function_has_answered, before_the_result_is_patched])
async def test_a_turn_that_is_stopped_before_the_hook_has_answered(
    nest: Nest, point: Callable[[Nest, Hooks], Awaitable[Callable[[], Awaitable[None]]]]
) -> None:
    hooks = Hooks()
    reached = await point(nest, hooks)
    (nest.workspace / "key").write_text(SECRET)
    nest.plays(bash(f"echo {SECRET}"))
    session = await nest.open(hooks=hooks)
    turn = asyncio.ensure_future(session.prompt("go"))
    await reached()
    assert SECRET.encode() not in nest.on_disk()

    await session.interrupt()
    await turn

    nest.script("redact", OBSERVE)
    nest.plays(after={"text": "Aye."})
    await session.prompt("again")
    await session.compact()
    await session.finish("detached")
    assert SECRET.encode() not in nest.on_disk()


async def test_the_folder_and_the_files_are_the_owners(nest: Nest) -> None:
    nest.plays(bash("yes | head -c 100000"))
    session = await nest.open()

    await session.prompt("go")

    found = {path.name: oct(path.stat().st_mode & 0o777) for path in (nest.folder / "sessions").rglob("*")}
    (spilled,) = [name for name in found if name.startswith("call_")]
    assert found == {f"{session.id}.jsonl": "0o600", session.id: "0o700", "results": "0o700", spilled: "0o600"}
    assert oct((nest.folder / "sessions").stat().st_mode & 0o777) == "0o700"
