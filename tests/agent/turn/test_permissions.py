"""Rules of config.toml, hooks and whoever answers prompts, together with real tools."""

import pytest

from tests.support.nest import Nest, Prompts, bash
from tests.support.rows import Rows
from treblehook.agent.permissions import Always, Approver, Never
from treblehook.lifecycle import Allow, Ask, BeforeExecute, Decision, Deny, Environment, PermissionRequest, PreToolCall, Rewrite

RULES = '[permissions]\nallow = ["bash(echo *)"]\nask = ["bash(echo gold*)"]\ndeny = ["bash(rm *)"]\n'


@pytest.mark.parametrize(
    ("command", "hook", "approver", "ran"),
    [
        ("echo sand", Deny("no"), Never(), True),
        ("rm sand", Allow(), Always(), False),
        ("echo gold", Allow(), Never(), True),
        ("echo gold", Deny("no"), Always(), False),
        ("echo gold", Ask(), Always(), True),
        ("echo gold", None, Never(), False),
        ("printf silver", None, Always(), True),
        ("printf silver", None, Never(), False),
        ("echo sand; rm sand", Allow(), Always(), False),
    ],
)
async def test_deny_beats_ask_beats_allow_and_hooks_answer_only_what_is_asked(
    nest: Nest, rows: Rows, command: str, hook: Decision | None, approver: Approver, ran: bool
) -> None:
    nest.settings(RULES)
    nest.plays(bash(command), {"text": "Done."})
    rows.on(PermissionRequest, hook)
    session = await nest.open(hooks=rows.hooks, approver=approver)

    await session.prompt("go")

    assert nest.ears.of("tool_result")[0]["ran"] is ran


async def test_rules_and_prompt_are_about_what_would_really_run(nest: Nest, rows: Rows) -> None:
    nest.settings(RULES)
    nest.plays(bash("echo sand", "rm sand"), {"text": "Done."})
    made = {"echo sand": "rm -r sand", "rm sand": "printf sand"}
    rows.on(PreToolCall, lambda event: Rewrite(input={"command": made[event.call.input["command"]]}))
    prompts = Prompts()
    session = await nest.open(hooks=rows.hooks, approver=prompts)

    await session.prompt("go")

    assert [record["ran"] for record in nest.ears.of("tool_result")] == [False, True]
    assert [call.input for call in prompts.calls] == [{"command": "printf sand"}]


async def test_reading_does_not_ask(nest: Nest, rows: Rows) -> None:
    (nest.workspace / "map.txt").write_text("x\n")
    reads = [{"name": name, "args": {"path": "map.txt", "pattern": "x"}} for name in ("glob", "grep")]
    nest.plays({"tools": [{"name": "read", "args": {"path": "map.txt"}}, *reads]}, {"text": "Done."})
    session = await nest.open(hooks=rows.hooks, approver=Never())

    await session.prompt("go")

    assert [record["ran"] for record in nest.ears.of("tool_result")] == [True] * 3
    assert rows.of(PermissionRequest) == []


async def test_the_environment_of_hooks_reaches_the_command(nest: Nest, rows: Rows) -> None:
    nest.plays(bash('echo "$ISLAND of $OWNER"'), bash('echo "[$ISLAND]"'), {"text": "Done."})
    rows.on(BeforeExecute, lambda event: Environment({"ISLAND": "Tortuga", "OWNER": "crows"}) if "OWNER" in str(event.call.input) else None)
    session = await nest.open(hooks=rows.hooks)

    await session.prompt("go")

    assert [record["content"] for record in nest.ears.of("tool_result")] == ["Tortuga of crows\n", "[]\n"]
