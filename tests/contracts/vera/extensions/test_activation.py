"""Activation: what an extension is given, what it may register, and what makes all of it fail (vera.md 5.3, 5.4; cases 165, 166)."""

import json
import os
from typing import Any

import pytest

from tests.support.extension_rig import ExtensionRig, write_extension
from tests.support.needs import needs
from tests.support.sample_events import proposed
from treblehook.contracts.vera.extensions.activation import CAPABILITIES
from treblehook.contracts.vera.phases import FUNCTION_PHASES
from treblehook.lifecycle import Block

pytestmark = needs("node")

REGISTERS = {
    "registerPreToolUse": "hooks.pre_tool_use",
    "registerPostToolUse": "hooks.post_tool_use",
    "registerSessionStart": "hooks.session_start",
    "registerPreTurn": "hooks.pre_turn",
    "registerTurnEnding": "hooks.turn_ending",
    "registerTurnFinished": "hooks.turn_finished",
    "registerPreCompact": "hooks.pre_compact",
    "registerSessionEnd": "hooks.session_end",
    "registerSubagentFinished": "hooks.subagent_finished",
}
BLOCKS = "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'no' }));"


def configured(rig: ExtensionRig, activate: str, config: Any, **more: Any) -> None:
    folder = write_extension(rig.place / "elsewhere" / "one", "one", activate, **more)
    rig.configure(extensions=[{"path": str(folder), "config": config}])


async def test_every_function_phase_has_its_call_and_its_capability(rig: ExtensionRig) -> None:
    rig.js("all", "".join(f"vera.hooks.{name}(() => ({{ power: 'observe' }}));" for name in REGISTERS), capabilities=REGISTERS.values())

    session = await rig.session()

    assert {handler.origin.event for handler in session.handlers} == set(FUNCTION_PHASES)
    assert set(CAPABILITIES) == {*REGISTERS.values(), "hooks.command", "sessions.ask"}
    assert {(handler.name, handler.origin.contract) for handler in session.handlers} == {("all", "vera")}


@pytest.mark.parametrize(("name", "capability"), [*REGISTERS.items(), ("registerCommand", "hooks.command")])
async def test_case_165_registering_without_the_capability_fails_that_extension_alone(
    rig: ExtensionRig, name: str, capability: str
) -> None:
    rig.js("bare", f"{BLOCKS}\nvera.hooks.{name}(() => {{}});", capabilities={"hooks.pre_tool_use"} - {capability})
    rig.js("other", BLOCKS)

    session = await rig.session()

    assert [handler.name for handler in session.handlers] == ["other"]
    [line] = rig.log()
    assert (line["type"], line["extension_id"]) == ("host_startup_extension_failed", "bare")
    assert "which the manifest does not declare" in line["message"]
    assert rig.messages() == [f"extension bare does not load: {line['message']}"]
    assert rig.home.problems[0].file.endswith("extensions/bare/index.mjs")


async def test_catching_the_refusal_does_not_help(rig: ExtensionRig) -> None:
    rig.js("sly", f"try {{ {BLOCKS} }} catch {{}}", capabilities=[])

    assert await rig.load() == ["vera.command-hooks"]


async def test_declaring_and_not_using_is_fine(rig: ExtensionRig) -> None:
    rig.js("idle", "", capabilities=[*CAPABILITIES, "model.middleware"])

    assert await rig.load() == ["vera.command-hooks", "idle"]
    assert rig.messages() == []


async def test_case_166_registering_after_activation_throws(rig: ExtensionRig) -> None:
    rig.js(
        "late",
        "vera.hooks.registerPreTurn(() => ({ power: 'observe' }));\n"
        "vera.hooks.registerPreToolUse(() => { try { vera.hooks.registerPreTurn(() => 1); } catch (error) {"
        " return { power: 'block', reason: error.message }; } });",
    )

    outcome = await rig.fire(proposed())

    assert isinstance(outcome.decision, Block)
    assert "while activate runs, and not after" in outcome.decision.reason
    assert len((await rig.session()).handlers) == 2


@pytest.mark.parametrize("given", ["", "null", "'x'", "{}", "[]"])
async def test_registering_what_is_no_function(rig: ExtensionRig, given: str) -> None:
    rig.js("one", f"vera.hooks.registerPreTurn({given});")

    assert await rig.load() == ["vera.command-hooks"]
    assert "must be a function" in rig.messages()[0]


@pytest.mark.parametrize(
    ("body", "before", "told"),
    [
        ("throw new Error('in activate');", "", "Error: in activate"),
        ("await null; throw new Error('in promise');", "", "Error: in promise"),
        ("", "throw new Error('at import');", "Error: at import"),
        ("", "import 'missing-package';", "missing-package"),
        ("", "this is no code", "SyntaxError"),
        ("process.exit(2);", "", "it called process.exit(2)"),
        ("setTimeout(() => { throw new Error('later'); }, 0); await new Promise(() => {});", "", "it crashed: Error: later"),
    ],
)
async def test_what_goes_wrong_in_activate_fails_that_extension_alone(rig: ExtensionRig, body: str, before: str, told: str) -> None:
    rig.js("bad", f"{BLOCKS}\n{body}", before=before)
    rig.js("good", "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'good' }));")

    assert (await rig.fire(proposed())).decision == Block("good")

    [message] = rig.messages()
    assert message.startswith("extension bad does not load: ")
    assert told in message


async def test_a_module_without_activate(rig: ExtensionRig) -> None:
    folder = rig.js("bad", "")
    (folder / "index.mjs").write_text("export const other = 1;")

    assert await rig.load() == ["vera.command-hooks"]
    assert 'exports no function "activate"' in rig.messages()[0]


async def test_an_extension_for_clients_alone_is_passed_over(rig: ExtensionRig) -> None:
    folder = rig.js("ui", "", capabilities=["client.rows"])
    (folder / "index.mjs").write_text("export function activateClient() { throw new Error(); }")

    assert "ui" in await rig.load()
    assert rig.messages() == []


async def test_a_module_in_common_js_with_packages_of_its_own(rig: ExtensionRig) -> None:
    folder = rig.js("old", "", entry="index.js")
    package = folder / "node_modules" / "words"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name":"words","main":"main.js"}')
    (package / "main.js").write_text("module.exports = { no: 'from a package' };")
    (folder / "index.js").write_text(
        "const { no } = require('words');\nconst path = require('node:path');\n"
        "module.exports = { activate(vera) { vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: path.join(no) })); } };"
    )

    assert (await rig.fire(proposed())).decision == Block("from a package")


async def test_a_module_as_the_seed_writes_it(rig: ExtensionRig) -> None:
    rig.js("seed", BLOCKS, entry="index.js")

    assert (await rig.fire(proposed())).decision == Block("no")


async def test_config_is_a_private_copy_with_the_environment_in_it(rig: ExtensionRig) -> None:
    rig.environ = {**os.environ, "CROW": "caw"}
    config = {"token": {"env": "CROW"}, "list": [{"env": "CROW"}], "kept": {"env": "CROW", "other": 1}, "number": {"env": 5}}
    configured(rig, "keep(vera.config); vera.config.token = 'changed';", config)

    await rig.load()

    kept = json.loads((rig.place / "one.kept").read_text())
    assert kept == {"token": "caw", "list": ["caw"], "kept": {"env": "CROW", "other": 1}, "number": {"env": 5}}


async def test_without_a_config_there_is_an_empty_one(rig: ExtensionRig) -> None:
    rig.js("one", "keep(vera.config);")

    await rig.load()

    assert json.loads((rig.folder / "one.kept").read_text()) == {}


async def test_a_variable_that_is_not_set_fails_the_extension(rig: ExtensionRig) -> None:
    configured(rig, "", {"keys": [{"env": "TREBLEHOOK_NO_SUCH_VARIABLE"}]})

    assert await rig.load() == ["vera.command-hooks"]
    [problem] = rig.home.problems
    assert (problem.file, problem.place) == (str(rig.config), "extensions[0]")
    assert 'config.keys[0] is the environment variable "TREBLEHOOK_NO_SUCH_VARIABLE", which is not set' in problem.message


@pytest.mark.parametrize("when", ["activating", "later"])
async def test_a_disposer_removes_its_registration_from_every_session(rig: ExtensionRig, when: str) -> None:
    rig.js(
        "one",
        "const dispose = vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'first' }));\n"
        "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'second' }));\n"
        f"{'dispose(); dispose();' if when == 'activating' else 'vera.hooks.registerSessionEnd(() => { dispose(); dispose(); });'}",
    )
    session = await rig.session()
    if when == "later":
        assert (await session.fire(proposed())).decision == Block("first")
        [extension] = [one for one in (await rig.home.extensions()).active if one.module is not None]
        assert extension.module is not None
        await extension.module.call("fire", b'{"hook":2,"payload":{}}')

    assert (await session.fire(proposed())).decision == Block("second")
    assert (await rig.fire(proposed())).decision == Block("second")


@pytest.mark.parametrize(
    "given", ["() => keep('disposed')", "{ dispose: () => keep('disposed') }", "async () => { await null; keep('disposed'); }"]
)
async def test_what_activate_returns_is_called_at_the_end_last_extension_first(rig: ExtensionRig, given: str) -> None:
    for name in ("a", "b"):
        rig.js(name, f"return {given.replace('disposed', name)};", before="const shared = process.env;")
    order = rig.folder / "order"
    for name in ("a", "b"):
        file = rig.folder / "extensions" / name / "index.mjs"
        file.write_text(file.read_text().replace(f"{name}.kept", "order"))
    await rig.load()

    await rig.home.close()

    assert order.read_text().split() == ['"b"', '"a"']


@pytest.mark.parametrize("body", ["throw new Error('no')", "process.exit(1)"])
async def test_a_disposer_that_fails_is_told(rig: ExtensionRig, body: str) -> None:
    rig.js("one", f"return () => {{ {body}; }};")
    await rig.load()

    await rig.home.close()

    assert any(message.startswith("extension one has ended: ") for message in rig.messages())


async def test_extensions_load_once(rig: ExtensionRig) -> None:
    rig.js("one", "keep('activated');")

    for _ in range(3):
        await rig.session()

    assert rig.kept("one") == ["activated"]
