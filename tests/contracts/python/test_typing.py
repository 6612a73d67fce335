"""What a type checker knows: what an event holds, and which decisions it accepts."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

HEAD = """
import functools
from treblehook import (
    AddContext, Allow, BeforeExecute, Block, Environment, Hooks, NoteCreated, Outcome, PermissionRequest, PreToolCall,
    PromptSubmitted, Refuse, Rewrite, SessionStart, Stop, ToolCall, ToolFinished, ToolGate, ToolRan,
)

hooks = Hooks()
EVENT = PreToolCall(session="s1", call=ToolCall("c1", "bash", {"command": "rm x"}))
"""

GOOD = {
    "an event holds what it holds": """
        @hooks.on(PreToolCall, pattern="bash", priority=5, timeout=2.0, on_error="closed", name="guard")
        async def guard(event: PreToolCall) -> Block | Rewrite | None:
            name: str = event.call.name
            return Block(name) if event.spawned else Rewrite(input={**event.call.input, "n": 1})
        """,
    "sync": """
        @hooks.on(ToolFinished)
        def redact(event: ToolFinished) -> Rewrite | None:
            return Rewrite(content=event.content.upper()) if event.is_error else None
        """,
    "a lambda knows its event": """
        hooks.on(PreToolCall)(lambda event: Block(event.call.id))
        hooks.on(NoteCreated, pattern="Daily/*")(lambda event: Stop() if event.title else None)
        """,
    "every fold": """
        hooks.on(PermissionRequest)(lambda event: Allow())
        hooks.on(BeforeExecute)(lambda event: Environment({"A": event.call.name}))
        hooks.on(ToolGate)(lambda event: Refuse(event.input_json))
        hooks.on(SessionStart)(lambda event: AddContext(event.reason))
        hooks.on(PromptSubmitted)(lambda event: AddContext("x", display=event.prompt))
        """,
    "an event that accepts nothing": """
        @hooks.on(ToolRan)
        async def watch(event: ToolRan) -> None:
            print(event.content, event.duration_ms)
        """,
    "the function stays what it was": """
        @hooks.on(PreToolCall)
        async def guard(event: PreToolCall) -> Block | None:
            return None

        async def use() -> None:
            decision = await guard(EVENT)
            if isinstance(decision, Block):
                print(decision.reason)
        """,
    "an outcome knows its event": """
        async def use() -> str:
            outcome = await hooks.fire(EVENT)
            known: Outcome[PreToolCall] = outcome
            reason = outcome.blocked.reason if outcome.blocked else ""
            return outcome.value.call.name + reason
        """,
    "any event": """
        from treblehook import Event

        def log(event: Event) -> None:
            print(event.session)

        hooks.on(PreToolCall)(log)
        hooks.on(ToolRan)(log)
        """,
    "partial": """
        async def guard(word: str, event: PreToolCall) -> Block | None:
            return Block(word)

        hooks.on(PreToolCall)(functools.partial(guard, "no"))
        """,
}

BAD = {
    "an attribute that the event has not": (
        """
        @hooks.on(PreToolCall)
        async def guard(event: PreToolCall) -> None:
            event.call.nam
        """,
        '"ToolCall" has no attribute "nam"',
    ),
    "a decision that the event does not accept": (
        """
        @hooks.on(PreToolCall)
        async def guard(event: PreToolCall) -> Refuse | None:
            return None
        """,
        "[arg-type]",
    ),
    "a sync one likewise": (
        """
        @hooks.on(ToolFinished)
        def guard(event: ToolFinished) -> Block | None:
            return None
        """,
        "[arg-type]",
    ),
    "an answer where none is accepted": (
        """
        @hooks.on(ToolRan)
        def guard(event: ToolRan) -> Block | None:
            return None
        """,
        "[arg-type]",
    ),
    "another event": (
        """
        @hooks.on(PreToolCall)
        async def guard(event: ToolFinished) -> None: ...
        """,
        "[arg-type]",
    ),
    "a lambda with the wrong decision": ("hooks.on(PreToolCall)(lambda event: Allow())", "[arg-type]"),
    "what is no event": ("hooks.on(str)(lambda event: None)", "[arg-type]"),
    "an unknown policy": ('hooks.on(PreToolCall, on_error="abort")(lambda event: None)', "[call-overload]"),
    "a text for a number": ('hooks.on(PreToolCall, timeout="2")(lambda event: None)', "[call-overload]"),
    "a decision with the wrong words": (
        "hooks.on(PreToolCall)(lambda event: Block(5))",
        '"Block" has incompatible type "int"; expected "str"',
    ),
    "an outcome of another event": ("async def use() -> Outcome[ToolRan]:\n    return await hooks.fire(EVENT)", "[arg-type]"),
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What `mypy --strict` says of each snippet; one run for all, since each takes seconds."""
    folder = tmp_path_factory.mktemp("snippets")
    names = {f"snippet_{number}.py": name for number, name in enumerate([*GOOD, *BAD])}
    for file, name in names.items():
        (folder / file).write_text(HEAD + textwrap.dedent(GOOD[name] if name in GOOD else BAD[name][0]))
    mypy = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--config-file=",
        f"--cache-dir={ROOT / '.cache' / 'mypy-snippets'}",
    ]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    run = subprocess.run([*mypy, *names], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    found: dict[str, list[str]] = {name: [] for name in names.values()}
    for line in run.stdout.splitlines()[:-1]:
        found[names[line.partition(":")[0]]].append(line)
    return found


@pytest.mark.parametrize("name", GOOD)
def test_good_hooks_are_fine(reports: dict[str, list[str]], name: str) -> None:
    assert reports[name] == []


@pytest.mark.parametrize("name", BAD)
def test_bad_hooks_are_found(reports: dict[str, list[str]], name: str) -> None:
    assert any(BAD[name][1] in line for line in reports[name])
