"""Extensions that misbehave take down nothing but themselves, and always fail open (vera.md 3.11, 5.6; cases 52, 178)."""

import asyncio
from pathlib import Path

import pytest

from tests.support.clock import Clock
from tests.support.extension_rig import ExtensionRig
from tests.support.needs import needs
from tests.support.processes import alive, until
from tests.support.sample_events import ending, finished, proposed, started, submitted
from treblehook.contracts.vera.extensions.extensions import Extensions, Seconds
from treblehook.engine import Ended
from treblehook.lifecycle import AddContext, Block
from treblehook.runtimes.node import Patience

pytestmark = needs("node")

GOOD = "vera.hooks.registerPreToolUse(() => ({ power: 'block', reason: 'good' }));"
NEVER = "new Promise(() => {})"
WRITE = "import { workerData } from 'node:worker_threads';"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extensions get half a second for what they get five for."""
    seconds = Seconds(activate=1.0, dispose=0.3, node=Patience(blocked=0.3, restarts=(0.01, 0.01, 0.01)))
    plain = Extensions.__init__
    monkeypatch.setattr(Extensions, "__init__", lambda self, *given: plain(self, *given, seconds))


@pytest.mark.parametrize("body", ["for (;;);", f"await {NEVER};", f"{GOOD} await {NEVER};"])
async def test_activate_that_never_returns(rig: ExtensionRig, body: str) -> None:
    rig.js("bad", body)
    rig.js("good", GOOD)

    assert (await rig.fire(proposed())).decision == Block("good")

    assert rig.messages() == ["extension bad does not load: activate was not done after 1 s"]
    assert [line["message"] for line in rig.log()] == ["activate was not done after 1 s"]


@pytest.mark.parametrize("body", ["throw new Error('no');", "return Promise.reject(new Error('no'));", "throw undefined;"])
async def test_case_052_a_function_that_throws_is_ignored(rig: ExtensionRig, body: str) -> None:
    rig.js("bad", f"vera.hooks.registerPreToolUse(() => {{ {body} }});")
    rig.js("good", GOOD)
    session = await rig.session()

    outcome = await session.fire(proposed())

    assert outcome.decision == Block("good")
    assert session.ends == [("bad", Ended.FAILED), ("good", Ended.ANSWERED)]
    assert rig.log() == []


@pytest.mark.parametrize(
    ("event", "register", "seconds"),
    [
        (proposed(), "registerPreToolUse", 60),
        (submitted(), "registerPreTurn", 60),
        (finished(), "registerPostToolUse", 5),
        (started(), "registerSessionStart", 60),
    ],
)
async def test_a_promise_that_never_settles_is_ignored_at_the_deadline(
    rig: ExtensionRig, clock: Clock, event: object, register: str, seconds: int
) -> None:
    rig.js("bad", f"vera.hooks.{register}(() => {{ keep('asked'); return {NEVER}; }});")
    session = await rig.session()
    firing = asyncio.ensure_future(session.fire(event))  # type: ignore[type-var]
    await until(lambda: rig.kept("bad") == ["asked"])

    await clock.advance(seconds - 1)
    assert not firing.done()
    await clock.advance(1.5)

    outcome = await firing
    assert (outcome.decision, outcome.contributions) == (None, ())
    assert session.ends == [("bad", Ended.TIMED_OUT)]


async def test_case_178_a_turn_ending_function_that_never_resolves_lets_the_turn_end_after_60_s(rig: ExtensionRig, clock: Clock) -> None:
    rig.js("bad", f"vera.hooks.registerTurnEnding(() => {{ keep('asked'); return {NEVER}; }});")
    session = await rig.session()
    firing = asyncio.ensure_future(session.fire(ending()))
    await until(lambda: rig.kept("bad") == ["asked"])

    await clock.advance(59)
    assert not firing.done()
    await clock.advance(1.5)

    assert (await firing).decision is None
    assert session.errors == ["was still running after 60 s, the time that its hooks share"]


async def test_an_executable_of_config_json_is_not_robbed_of_its_time(rig: ExtensionRig, clock: Clock) -> None:
    rig.hook("pre_tool_use", "guard", 'cat >/dev/null; echo \'{"power":"block","reason":"guard"}\'')
    rig.js("bad", f"vera.hooks.registerPreToolUse(() => {NEVER});")

    assert (await rig.fire(proposed())).decision == Block("guard")


async def test_a_blocked_event_loop_ends_the_extension_alone(rig: ExtensionRig, clock: Clock) -> None:
    rig.js("bad", "vera.hooks.registerPreToolUse(() => { keep('asked'); for (;;); });")
    rig.js("good", "vera.hooks.registerPreTurn(() => ({ power: 'mutate', context: 'good' }));")
    session = await rig.session()
    firing = asyncio.ensure_future(session.fire(proposed()))
    await until(lambda: rig.kept("bad") == ["asked"])

    assert [c.decision for c in (await session.fire(submitted())).contributions] == [AddContext("good")]
    await clock.advance(60.5)
    assert (await firing).decision is None
    await until(lambda: bool(rig.log()))

    assert rig.log() == [
        {"type": "extension_ended", "level": "warn", "extensionId": "bad", "message": "it blocked its event loop for 0.3 s"}
    ]
    assert rig.messages() == ["extension bad has ended: it blocked its event loop for 0.3 s"]
    assert (await session.fire(proposed())).decision is None
    assert session.ends[-1] == ("bad", Ended.NOT_STARTED)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("process.exit(7)", "it called process.exit(7)"),
        ("for (;;) fs.writeSync(workerData.fd, 'flood\\n')", "it wrote to its pipe what is no message"),
        (f"setTimeout(() => {{ throw new Error('later'); }}, 0); return {NEVER}", "it crashed: Error: later"),
    ],
)
async def test_what_ends_the_worker_ends_that_extension_alone(rig: ExtensionRig, body: str, why: str) -> None:
    rig.js("bad", f"vera.hooks.registerPreToolUse(() => {{ {body}; }});", before=WRITE)
    rig.js("good", GOOD)
    session = await rig.session()

    for _ in range(2):
        assert (await session.fire(proposed())).decision == Block("good")

    assert session.ends == [
        ("bad", Ended.FAILED),
        ("good", Ended.ANSWERED),
        ("bad", Ended.NOT_STARTED),
        ("good", Ended.ANSWERED),
    ]
    [message] = rig.messages()
    assert message.startswith(f"extension bad has ended: {why}")


async def test_an_extension_that_kills_the_process_is_activated_again_with_the_others(rig: ExtensionRig) -> None:
    rig.js("bad", f"keep('on'); vera.hooks.registerPreTurn(() => {{ process.kill(process.pid, 'SIGSEGV'); return {NEVER}; }});")
    rig.js("good", f"keep('on'); {GOOD}")
    session = await rig.session()

    assert (await session.fire(submitted())).decision is None
    await until(lambda: (len(rig.kept("bad")), len(rig.kept("good"))) == (2, 2))
    while (await session.fire(proposed())).decision != Block("good"):
        await asyncio.sleep(0.01)

    assert rig.messages() == ["the Node process was killed by SIGSEGV while it ran bad; it is started again"]
    assert [line["type"] for line in rig.log()] == ["extension_process_died"]


async def test_process_abort_is_thrown_back_and_ignored(rig: ExtensionRig) -> None:
    rig.js("bad", "vera.hooks.registerPreToolUse(() => process.abort());")
    rig.js("good", GOOD)

    assert (await rig.fire(proposed())).decision == Block("good")
    assert rig.messages() == []


async def test_an_extension_that_kills_the_process_in_activate_is_not_activated_again(rig: ExtensionRig) -> None:
    rig.js("a-good", GOOD)
    rig.js("bad", f"keep('on'); process.kill(process.pid, 'SIGKILL'); await {NEVER};")
    rig.js("c-good", "vera.hooks.registerPreTurn(() => ({ power: 'block', reason: 'good too' }));")

    session = await rig.session()
    await until(lambda: "is started again" in " ".join(rig.messages()))
    while (await session.fire(proposed())).decision != Block("good"):
        await asyncio.sleep(0.01)

    assert (await session.fire(submitted())).decision == Block("good too")
    assert rig.kept("bad") == ["on"]
    assert any(message.startswith("extension bad does not load: the Node process was killed by SIGKILL") for message in rig.messages())


async def test_an_extension_that_registers_otherwise_the_second_time_is_lost(rig: ExtensionRig, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    rig.js(
        "bad",
        f"if (fs.existsSync('{flag}')) vera.hooks.registerSessionEnd(() => 1);\n"
        f"vera.hooks.registerPreTurn(() => {{ fs.writeFileSync('{flag}', ''); process.kill(process.pid, 'SIGKILL'); return {NEVER}; }});",
    )

    await rig.fire(submitted())
    await until(lambda: len(rig.messages()) == 2)

    assert rig.messages()[1] == "extension bad has ended: it could not be activated again: it registered other hooks than before"


@pytest.mark.parametrize("body", ["for (;;);", f"return {NEVER};"])
async def test_closing_is_bounded(rig: ExtensionRig, body: str) -> None:
    rig.js("bad", f"return () => {{ {body} }};")
    rig.js("good", "return () => keep('disposed');")
    pid = await rig.node() if await rig.load() else None

    await rig.home.close()

    assert pid is not None
    assert not alive(pid)
    assert rig.kept("good") == ["disposed"]
    assert "extension bad has ended: its disposer took more than 0.3 s" in rig.messages()


async def test_the_home_closes_while_extensions_are_activated(rig: ExtensionRig) -> None:
    rig.js("slow", f"keep('on'); await {NEVER};")
    opening = asyncio.ensure_future(rig.session())
    await until(lambda: rig.kept("slow") == ["on"])

    await rig.home.close()

    with pytest.raises(asyncio.CancelledError):
        await opening
