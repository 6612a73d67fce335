"""Python extensions are activated as JavaScript ones are (vera.md 5.3, 5.4; cases 165, 166, 168)."""

import asyncio
import json
import os
import sys
from typing import Any

import pytest

from tests.support.clock import Clock
from tests.support.extension_rig import ExtensionRig, write_python_extension
from tests.support.needs import needs
from tests.support.sample_events import proposed
from treblehook.contracts.vera.extensions.activation import CAPABILITIES
from treblehook.contracts.vera.phases import FUNCTION_PHASES
from treblehook.lifecycle import Block

BLOCKS = "treblehook.hooks.register_pre_tool_use(lambda given: {'power': 'block', 'reason': 'no'})"
GOOD = BLOCKS.replace("'no'", "'good'")


def configured(rig: ExtensionRig, activate: str, config: Any) -> None:
    folder = write_python_extension(rig.place / "elsewhere" / "one", "one", activate)
    rig.configure(extensions=[{"path": str(folder), "config": config}])


async def test_every_function_phase_has_its_call(rig: ExtensionRig) -> None:
    rig.py("all", "\n".join(f"treblehook.hooks.register_{phase}(lambda given: {{'power': 'observe'}})" for phase in FUNCTION_PHASES))

    session = await rig.session()

    assert [handler.origin.event for handler in session.handlers] == list(FUNCTION_PHASES)
    assert {(handler.name, handler.origin.contract) for handler in session.handlers} == {("all", "vera")}
    assert (await rig.node()) is None


@pytest.mark.parametrize("phase", [*FUNCTION_PHASES, "command"])
async def test_case_165_registering_without_the_capability_fails_that_extension_alone(rig: ExtensionRig, phase: str) -> None:
    rig.py("bare", f"treblehook.hooks.register_{phase}(lambda given: None)", capabilities=set(CAPABILITIES) - {f"hooks.{phase}"})
    rig.py("other", BLOCKS)

    session = await rig.session()

    assert [handler.name for handler in session.handlers] == ["other"]
    [line] = rig.log()
    assert (line["type"], line["extension_id"]) == ("host_startup_extension_failed", "bare")
    assert f'needs the capability "hooks.{phase}", which the manifest does not declare' in line["message"]
    assert rig.messages() == [f"extension bare does not load: {line['message']}"]
    assert rig.home.problems[0].file.endswith("extensions/bare/main.py")


async def test_catching_the_refusal_does_not_help(rig: ExtensionRig) -> None:
    rig.py("sly", f"try:\n    {BLOCKS}\nexcept Exception:\n    pass", capabilities=[])

    assert await rig.load() == ["vera.command-hooks"]


async def test_case_166_registering_after_activation_raises(rig: ExtensionRig) -> None:
    rig.py(
        "late",
        """
        def guard(given):
            try:
                treblehook.hooks.register_pre_turn(guard)
            except Exception as error:
                return {"power": "block", "reason": str(error)}
        treblehook.hooks.register_pre_tool_use(guard)
        """,
    )

    assert (await rig.fire(proposed())).decision == Block("register_pre_turn: hooks are registered while activate runs, and not after")
    assert len((await rig.session()).handlers) == 1


@pytest.mark.parametrize("given", ["None", "'x'", "{}", "[]"])
async def test_registering_what_is_no_function(rig: ExtensionRig, given: str) -> None:
    rig.py("one", f"treblehook.hooks.register_pre_turn({given})")

    assert await rig.load() == ["vera.command-hooks"]
    assert f"register_pre_turn: found {given}; it must be a function" in rig.messages()[0]


@pytest.mark.parametrize("define", ["def", "async def"])
@pytest.mark.parametrize(
    ("body", "before", "told"),
    [
        ("raise ValueError('in activate')", "", "ValueError: in activate"),
        ("", "raise ValueError('at import')", "ValueError: at import"),
        ("", "import a_package_that_nobody_has", "No module named 'a_package_that_nobody_has'"),
        ("", "this is no code", "SyntaxError: invalid syntax"),
        ("sys.exit(3)", "", "it called sys.exit(3)"),
        ("", "sys.exit('bye')", "it called sys.exit('bye')"),
        ("raise KeyboardInterrupt", "", "KeyboardInterrupt"),
        ("def deeper(): deeper()\ndeeper()", "", "RecursionError"),
        ("return 5", "", "activate returned 5; it must return nothing"),
        ("return [lambda: None]", "", "it must return nothing"),
    ],
)
async def test_what_goes_wrong_fails_that_extension_alone(rig: ExtensionRig, define: str, body: str, before: str, told: str) -> None:
    rig.py("bad", f"{BLOCKS}\n{body}", before=before, define=define)
    rig.py("good", GOOD)

    assert (await rig.fire(proposed())).decision == Block("good")

    [problem] = rig.home.problems
    assert problem.message.startswith("extension bad does not load: ")
    assert told in problem.message
    assert problem.file.endswith("bad/main.py")
    [line] = rig.log()
    assert (line["type"], line["extension_id"]) == ("host_startup_extension_failed", "bad")
    assert told in line["message"]


@pytest.mark.parametrize(
    ("define", "body"),
    [
        ("def", "time.sleep(3600)"),
        ("def", "threading.Event().wait()"),
        ("async def", "time.sleep(3600)"),
        ("async def", "await asyncio.Event().wait()"),
        ("async def", "while True:\n    try:\n        await asyncio.sleep(3600)\n    except asyncio.CancelledError:\n        pass"),
    ],
)
async def test_an_activate_that_never_returns_is_not_waited_for(rig: ExtensionRig, clock: Clock, define: str, body: str) -> None:
    rig.py("bad", f"{BLOCKS}\nkeep('begun')\n{body}", define=define)
    rig.py("good", GOOD)
    loading = asyncio.ensure_future(rig.load())
    while not rig.kept("bad"):
        await asyncio.sleep(0.01)

    await clock.advance(5)

    assert await loading == ["vera.command-hooks", "good"]
    assert rig.messages() == ["extension bad does not load: activate was not done after 5 s"]
    assert [line["extension_id"] for line in rig.log()] == ["bad"]


async def test_a_file_that_never_ends_is_not_waited_for(rig: ExtensionRig, clock: Clock) -> None:
    rig.py("bad", BLOCKS, before="keep('begun')\ntime.sleep(3600)")
    loading = asyncio.ensure_future(rig.load())
    while not rig.kept("bad"):
        await asyncio.sleep(0.01)

    await clock.advance(5)

    assert await loading == ["vera.command-hooks"]


async def test_a_module_without_activate(rig: ExtensionRig) -> None:
    (rig.py("bad", "") / "main.py").write_text("other = 1")

    assert await rig.load() == ["vera.command-hooks"]
    assert 'the module has no function "activate"' in rig.messages()[0]


async def test_config_is_a_copy_with_the_environment_in_it(rig: ExtensionRig) -> None:
    rig.environ = {**os.environ, "CROW": "caw"}
    configured(rig, "keep(treblehook.config)\ntreblehook.config['token'] = 1", {"token": {"env": "CROW"}, "list": [{"env": "CROW"}]})

    await rig.load()

    assert json.loads((rig.place / "one.kept").read_text()) == {"token": "caw", "list": ["caw"]}


@pytest.mark.parametrize("when", ["activating", "later"])
async def test_a_disposer_removes_its_registration_from_every_session(rig: ExtensionRig, when: str) -> None:
    rig.py(
        "one",
        f"""
        dispose = treblehook.hooks.register_pre_tool_use(lambda given: {{"power": "block", "reason": "first"}})
        treblehook.hooks.register_pre_tool_use(lambda given: {{"power": "block", "reason": "second"}})
        if {when == "activating"}:
            dispose()
            dispose()
        treblehook.hooks.register_session_end(lambda given: (dispose(), dispose()))
        """,
    )
    session = await rig.session()
    if when == "later":
        assert (await session.fire(proposed())).decision == Block("first")
        module = (await rig.home.extensions()).active[-1].module
        assert module is not None
        await module.call("fire", b'{"hook":2,"payload":{}}')

    assert (await session.fire(proposed())).decision == Block("second")
    assert (await rig.fire(proposed())).decision == Block("second")


@pytest.mark.parametrize(
    ("given", "before"),
    [
        ("lambda: keep('NAME')", ""),
        ("Ends()", "class Ends:\n    def dispose(self): keep('NAME')"),
        ("ends", "async def ends():\n    await asyncio.sleep(0)\n    keep('NAME')"),
    ],
)
async def test_what_activate_returns_is_called_at_the_end_last_extension_first(rig: ExtensionRig, given: str, before: str) -> None:
    for name in ("a", "b"):
        rig.py(name, f"return {given}".replace("NAME", name), before=before.replace("NAME", name))
        file = rig.folder / "extensions" / name / "main.py"
        file.write_text(file.read_text().replace(f"{name}.kept", "order"))
    await rig.load()

    await rig.home.close()

    assert (rig.folder / "order").read_text().split() == ['"b"', '"a"']


@pytest.mark.parametrize(("body", "told"), [("raise ValueError('no')", "ValueError: no"), ("sys.exit(1)", "it called sys.exit(1)")])
async def test_a_disposer_that_fails_is_told(rig: ExtensionRig, body: str, told: str) -> None:
    rig.py("one", f"def ends():\n    {body}\nreturn ends")
    await rig.load()

    await rig.home.close()

    assert any(message.startswith(f"extension one has ended: its disposer failed: {told}") for message in rig.messages())


async def test_a_disposer_that_never_returns_is_not_waited_for(rig: ExtensionRig, clock: Clock) -> None:
    rig.py("one", "def ends():\n    keep('begun')\n    time.sleep(3600)\nreturn ends")
    await rig.load()
    closing = asyncio.ensure_future(rig.home.close())
    while not rig.kept("one"):
        await asyncio.sleep(0.01)

    await clock.advance(2)

    await closing
    assert rig.messages() == ["extension one has ended: its disposer took more than 2 s"]


@needs("node")
@pytest.mark.parametrize("first", ["js", "py"])
async def test_case_168_an_id_is_taken_once_in_both_languages(rig: ExtensionRig, first: str) -> None:
    rig.js("same", "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'js' }));", name="a" if first == "js" else "b")
    rig.py("same", BLOCKS.replace("'no'", "'py'"), name="a" if first == "py" else "b")

    assert (await rig.fire(proposed())).decision == Block(first)
    assert rig.messages() == ["extension same does not load: an extension with the id same is active already"]


@needs("node")
async def test_the_order_of_folders_holds_across_the_languages(rig: ExtensionRig) -> None:
    rig.py("one", BLOCKS, name="a")
    rig.js("two", "vera.hooks.registerPreToolUse(() => ({ power: 'observe' }));", name="b")
    rig.py("three", BLOCKS, name="c")

    assert [handler.name for handler in (await rig.session()).handlers] == ["one", "two", "three"]


async def test_without_node_python_extensions_load(rig: ExtensionRig) -> None:
    rig.environ = {**os.environ, "PATH": "/nowhere"}
    rig.js("script", "")
    rig.py("good", GOOD)

    assert (await rig.fire(proposed())).decision == Block("good")


async def test_closing_leaves_nothing_behind(rig: ExtensionRig) -> None:
    before = (set(sys.modules), list(sys.meta_path), list(sys.path))
    rig.py("one", "keep(__name__)")
    await rig.load()
    [name] = rig.kept("one")
    assert name in sys.modules

    await rig.home.close()

    assert [name for name in sys.modules if name.startswith("_treblehook_one")] == []
    assert (sys.meta_path, sys.path) == (before[1], before[2])


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("5", "found 5; it must be a dict"),
        ("{'phase': 'turn_finished', 'argv': ['x']}", "phase is 'turn_finished'; it must be one of session_start"),
        ("{'phase': [], 'argv': ['x']}", "phase is []"),
        ("{'phase': 'Stop', 'argv': ['x']}", "phase is 'Stop'"),
        ("{'phase': 'Stop', 'argv': ['x'], 'protocol': 'other'}", "protocol is 'other'"),
        ("{'phase': 'pre_turn'}", "argv is None"),
        ("{'phase': 'pre_turn', 'argv': []}", "argv is []"),
        ("{'phase': 'pre_turn', 'argv': 'lookout'}", "argv is 'lookout'"),
        ("{'phase': 'pre_turn', 'argv': ['x', '']}", "argv is ['x', '']"),
        (r"{'phase': 'pre_turn', 'argv': ['x\0y']}", r"argv is ['x\x00y']"),
        ("{'phase': 'pre_turn', 'argv': ['x'] * 17}", "argv has 17 words; 16 are allowed"),
        ("{'phase': 'pre_turn', 'argv': ['x' * 8190]}", "argv has 8194 bytes as JSON; 8192 are allowed"),
        ("{'phase': 'pre_turn', 'argv': ['x'], 'timeoutMs': 30001}", "timeoutMs is 30001"),
        ("{'phase': 'pre_turn', 'argv': ['x'], 'timeoutMs': True}", "timeoutMs is True"),
        ("{'phase': 'pre_turn', 'argv': ['x'], 'timeout_ms': 5}", "the key 'timeout_ms' is not known"),
    ],
)
async def test_bad_commands_fail_the_extension_at_once(rig: ExtensionRig, spec: str, told: str) -> None:
    rig.py("one", f"treblehook.hooks.register_command({spec})")

    assert await rig.load() == ["vera.command-hooks"]
    assert f"register_command: {told}" in rig.messages()[0]


async def test_an_executable_of_a_python_extension(rig: ExtensionRig) -> None:
    script = rig.script("guard", 'cat >/dev/null; echo \'{"power":"block","reason":"from a shell"}\'')
    rig.py("one", f"treblehook.hooks.register_command({{'phase': 'pre_tool_use', 'argv': [{str(script)!r}], 'timeoutMs': 20000}})")

    [handler] = (await rig.session()).handlers
    assert (handler.name, handler.timeout) == ("one", 20.0)
    assert (await rig.fire(proposed())).decision == Block("from a shell")
