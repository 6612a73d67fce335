"""A guest has what it was granted and nothing else: what it imports beyond that is told before it starts, and WASI is empty."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.support.guests import CODE, LIFECYCLE, SOURCES, hook_interfaces, python_guard, python_probe
from tests.support.processes import held
from tests.support.small_guests import ASKS, EXPORTS, GO, HOST, Open, granted
from treblehook.runtimes.wasm import (
    SEALED_WASI,
    DeadlineExceeded,
    Err,
    Exited,
    Folder,
    FunctionType,
    Grants,
    HostFunction,
    HostFunctionFailed,
    HostInterface,
    ImportNotGranted,
    Instance,
    Limits,
    Ok,
    Wasi,
    WasmRuntime,
    WrongImport,
    host_interface,
)
from treblehook.runtimes.wasm.runtime import DEFAULT_LIMITS
from treblehook.runtimes.wasm.types import U32, U64, Field
from treblehook.runtimes.wasm.wit import read_text

PROBE = read_text((SOURCES / "probe" / "probe.wit").read_text())
RUN = "tests:probe/code@1.0.0#run"
ASK = host_interface(PROBE["tests:probe/ask@1.0.0"], {"question": lambda text: Ok(text.upper())})


async def test_an_import_that_is_not_granted_is_named(opened: Open) -> None:
    with pytest.raises(ImportNotGranted, match=rf"the component imports {HOST}, which it was not granted$") as raised:
        await opened(ASKS, EXPORTS)

    assert raised.value.name == HOST


async def test_another_version_of_an_import_is_told(opened: Open) -> None:
    older = HostInterface("tests:host/numbers@0.9.0", {"ask": HostFunction(GO, int)})

    with pytest.raises(ImportNotGranted, match=r"imports tests:host/numbers@1\.0\.0, .*; tests:host/numbers@0\.9\.0 is what it may have"):
        await opened(ASKS, EXPORTS, Grants([older]))


async def test_a_function_that_is_missing_in_a_granted_interface_is_named(opened: Open) -> None:
    with pytest.raises(ImportNotGranted, match=rf"imports {HOST}#ask,"):
        await opened(ASKS, EXPORTS, Grants([HostInterface(HOST, {"other": HostFunction(GO, int)})]))


async def test_a_stubbed_interface_can_be_imported_and_traps_when_it_is_called(opened: Open) -> None:
    instance = await opened(ASKS, EXPORTS, Grants([HostInterface(HOST, stubbed=True)]))

    with pytest.raises(HostFunctionFailed, match="only its types were granted"):
        await instance.call("go", 1, seconds=30)


async def test_an_interface_of_wasi_can_be_given_by_the_caller(opened: Open) -> None:
    interface = HostInterface("wasi:numbers/ask@0.9.0", {"ask": HostFunction(GO, lambda n: n * 3)})

    instance = await opened(ASKS.replace(HOST, interface.name), EXPORTS, Grants([interface]))

    assert await instance.call("go", 2, seconds=30) == 7


async def test_an_import_under_another_type_is_told(opened: Open) -> None:
    other = HostInterface(HOST, {"ask": HostFunction(FunctionType((Field("n", U64),), U32), int)})

    with pytest.raises(
        WrongImport, match=rf"imports {HOST}#ask with another type than the one that it is granted: n is u32, expected is u64"
    ):
        await opened(ASKS, EXPORTS, Grants([other]))


@pytest.mark.parametrize(
    "name", ["wasi:http/outgoing-handler@0.2.0", "wasi:sockets/tcp@0.2.0", "wasi:cli/environment@0.3.0", "wasi:nn/graph@0.2.0"]
)
async def test_what_of_wasi_is_not_granted_is_named(opened: Open, name: str) -> None:
    text = ASKS.replace(HOST, name)
    wasi = Wasi(SEALED_WASI.groups - {"http", "sockets"})

    with pytest.raises(ImportNotGranted, match=f"imports {name}, which it was not granted"):
        await opened(text, EXPORTS, Grants(wasi=wasi))


async def test_a_python_guest_without_wasi_is_told_what_it_imports(warm_runtime: WasmRuntime) -> None:
    component = await warm_runtime.load(python_guard())
    before = held().threads

    with pytest.raises(ImportNotGranted, match=r"wasi:io/poll@0\.2"):
        await warm_runtime.open(component, hook_interfaces()[LIFECYCLE].exports())

    assert held().threads == before


async def probe(runtime: WasmRuntime, wasi: Wasi = SEALED_WASI, limits: Limits = DEFAULT_LIMITS) -> Instance:
    component = await runtime.load(python_probe())
    return await runtime.open(component, PROBE["tests:probe/code@1.0.0"].exports(), Grants([ASK], wasi), limits)


async def answer(instance: Instance, source: str, *, seconds: float = 60) -> object:
    return await instance.call(RUN, source, seconds=seconds)


async def test_a_sealed_guest_sees_no_environment_arguments_or_input(warm_runtime: WasmRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "treasure")
    instance = await probe(warm_runtime)

    assert await answer(instance, "answer = dict(os.environ)") == Ok("{}")
    assert await answer(instance, "answer = sys.argv[1:]") == Ok("[]")
    assert await answer(instance, "answer = repr(sys.stdin.read())") == Ok("''")


async def test_a_sealed_guest_reaches_no_file(warm_runtime: WasmRuntime, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("treasure")
    instance = await probe(warm_runtime)

    for attempt in (f"open({str(tmp_path / 'secret')!r})", "open('/etc/passwd')", "open('x', 'w')", "os.mkdir('/x')", "os.listdir('/tmp')"):
        failed = await answer(instance, attempt)
        assert isinstance(failed, Err), failed
        assert "Error" in failed.value


async def test_a_sealed_guest_makes_no_socket(warm_runtime: WasmRuntime) -> None:
    instance = await probe(warm_runtime)
    before = held().descriptors

    for kind in ("SOCK_STREAM", "SOCK_DGRAM"):
        failed = await answer(instance, f"answer = socket.socket(socket.AF_INET, socket.{kind})")
        assert isinstance(failed, Err), failed
    assert isinstance(await answer(instance, "answer = socket.getaddrinfo('localhost', 80)"), Err)
    assert held().descriptors == before


async def test_a_guest_has_clocks_and_random_numbers_of_its_own(warm_runtime: WasmRuntime) -> None:
    one, other = [await probe(warm_runtime) for _ in range(2)]

    assert await answer(one, "answer = os.urandom(8)") != await answer(other, "answer = os.urandom(8)")
    assert await answer(one, "answer = time.time() > 1_700_000_000 and time.monotonic() > 0") == Ok("True")


@pytest.fixture(scope="module")
def engine_s_own_threads(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The engine has threads and descriptors for files that it makes once in a process and keeps."""

    async def read_a_file() -> None:
        async with WasmRuntime(CODE) as runtime:
            folder = Folder(tmp_path_factory.mktemp("first"), "/", writable=True)
            await answer(await probe(runtime, Wasi(SEALED_WASI.groups, folders=[folder])), "open('/x', 'w').close()")

    asyncio.run(read_a_file())


@pytest.mark.usefixtures("engine_s_own_threads")
async def test_a_guest_finds_what_it_was_granted(warm_runtime: WasmRuntime, tmp_path: Path) -> None:
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note").write_text("by the old oak")
    (tmp_path / "secret").write_text("treasure")
    folders = [Folder(tmp_path / "read", "/notes"), Folder(tmp_path / "write", "/own", writable=True)]
    instance = await probe(warm_runtime, Wasi(SEALED_WASI.groups, {"MAP": "here"}, ("probe", "-v"), folders))

    assert await answer(instance, "answer = dict(os.environ)") == Ok("{'MAP': 'here'}")
    assert await answer(instance, "answer = open('/notes/note').read()") == Ok("by the old oak")
    assert isinstance(await answer(instance, "open('/notes/note', 'w')"), Err)
    assert await answer(instance, "answer = open('/own/new', 'w').write('x')") == Ok("1")
    assert (tmp_path / "write" / "new").read_text() == "x"
    for way in ("/own/../secret", "/notes/../../secret"):
        assert isinstance(await answer(instance, f"open({way!r})"), Err)
    os.symlink(tmp_path / "secret", tmp_path / "write" / "link")
    assert isinstance(await answer(instance, "open('/own/link')"), Err)


async def test_a_guest_asks_its_host(warm_runtime: WasmRuntime) -> None:
    instance = await probe(warm_runtime)

    assert await answer(instance, "answer = ask.question('who is there?')") == Ok("WHO IS THERE?")


async def test_what_a_guest_prints_is_kept_up_to_a_limit(warm_runtime: WasmRuntime) -> None:
    instance = await probe(warm_runtime, limits=Limits(output_bytes=1000))

    await answer(instance, "print('hello'); print('oh', file=sys.stderr); sys.stdout.flush()")
    assert (instance.stdout.kept, instance.stdout.dropped) == (b"hello\n", 0)
    assert instance.stderr.kept == b"oh\n"
    await answer(instance, "for _ in range(3000): print('x' * 99)\nsys.stdout.flush()")
    assert instance.stdout.kept.startswith(b"hello\n" + b"x" * 99 + b"\n")
    assert (len(instance.stdout.kept), instance.stdout.dropped) == (1000, 300_006 - 1000)


async def test_a_guest_that_prints_for_ever_is_interrupted_and_costs_no_memory(warm_runtime: WasmRuntime) -> None:
    instance = await probe(warm_runtime)

    with pytest.raises(DeadlineExceeded):
        await answer(instance, "while True: sys.stdout.write('x' * 100_000)", seconds=1)

    assert len(instance.stdout.kept) == Limits().output_bytes
    assert instance.stdout.dropped > 1_000_000


async def test_a_guest_that_sleeps_for_long_is_given_up_at_its_deadline(warm_runtime: WasmRuntime) -> None:
    """It sleeps in the engine, where nothing interrupts it; its thread ends when it wakes."""
    instance = await probe(warm_runtime)

    with pytest.raises(DeadlineExceeded, match="it was given up"):
        await answer(instance, "time.sleep(3)", seconds=0.2)
    await instance.close()


async def test_a_guest_that_exits_is_told_with_its_status(warm_runtime: WasmRuntime) -> None:
    instance = await probe(warm_runtime)

    with pytest.raises(Exited, match="exited with status 1"):
        await answer(instance, "os._exit(3)")


async def test_a_guest_that_takes_all_memory_finds_the_limit(warm_runtime: WasmRuntime) -> None:
    instance = await probe(warm_runtime, limits=Limits(memory_bytes=100 * 1024 * 1024))

    failed = await answer(instance, "x = []\nwhile True: x.append(bytearray(1_000_000))")

    assert isinstance(failed, Err)
    assert failed.value.startswith("MemoryError")
    assert await answer(instance, "answer = 1") == Ok("1")


async def test_a_guest_in_python_that_spins_is_interrupted(warm_runtime: WasmRuntime) -> None:
    instance = await probe(warm_runtime)

    with pytest.raises(DeadlineExceeded):
        await answer(instance, "while True: pass", seconds=0.2)


async def test_a_function_with_its_own_type_replaces_the_one_it_had(opened: Open) -> None:
    """Two instances, each with a function of its own under one name."""
    one, other = await opened(ASKS, EXPORTS, granted(lambda n: 1)), await opened(ASKS, EXPORTS, granted(lambda n: 2))

    assert [await one.call("go", 0, seconds=30), await other.call("go", 0, seconds=30)] == [2, 3]
