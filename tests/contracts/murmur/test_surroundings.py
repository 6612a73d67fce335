"""What a hook finds around it: folders, variables, and nothing else (murmur.md 7, cases 136 to 140)."""

import asyncio
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.guests import python_scripted
from tests.support.http_guests import asking_hook
from tests.support.murmur_guests import NONE, hook
from tests.support.murmur_rig import SHELL_RAN, STAGE, MurmurRig
from treblehook.contracts.murmur.errors import HookUnusable
from treblehook.contracts.murmur.grant import Grant
from treblehook.contracts.murmur.network import parse_origin

LISTS = "said(sorted(os.listdir('.')))"


async def said(rig: MurmurRig, code: str, **grant: str) -> str:
    """What a hook with this grant says at `on-shell`."""
    rig.hook("hook", python_scripted().read_bytes(), grant=Grant(config=json.dumps({"on-shell": code}), **grant))
    await rig.start()
    await rig.fire(SHELL_RAN)
    (line,) = rig.sink.of("hook")
    return line


async def test_case_018_without_a_grant_there_is_no_file_and_no_socket(rig: MurmurRig, tmp_path: Path) -> None:
    tries = [f"open({str(tmp_path / 'x')!r}, 'w')", "open('x', 'w')", "os.listdir('.')", "os.listdir('/')"]
    code = "\n".join(["found = []", *(f"try:\n    found.append({each})\nexcept OSError as error: pass" for each in tries), "said(found)"])
    rig.accessible.mkdir()
    (rig.accessible / "secret").touch()

    assert await said(rig, code) == "[]"


async def test_a_socket_is_never_made(rig: MurmurRig) -> None:
    code = "try: said(socket.socket())\nexcept OSError as error: said('refused')"

    assert await said(rig, code) == "refused"


async def test_case_137_a_scope_is_made_and_only_it_is_seen(rig: MurmurRig) -> None:
    code = """
open('new', 'w').write('x')
found = sorted(os.listdir('.'))
try: os.listdir('..')
except OSError: found.append('..')
said(found)
"""

    assert await said(rig, code, scope="hook-state/deep") == "['new', '..']"
    assert (rig.accessible / "hook-state" / "deep" / "new").read_text() == "x"


async def test_case_137_what_is_in_a_scope_stays(rig: MurmurRig) -> None:
    (rig.accessible / "hook-state").mkdir(parents=True)
    (rig.accessible / "hook-state" / "old").write_text("kept")

    assert await said(rig, "said(open('old').read())", scope="hook-state") == "kept"


async def test_a_scope_of_a_point_is_the_whole_workdir(rig: MurmurRig) -> None:
    assert await said(rig, LISTS, scope=".") == "['.murmur']"


def a_file(place: Path) -> None:
    place.write_text("in the way")


def a_link(place: Path) -> None:
    place.symlink_to("/", target_is_directory=True)


def a_dangling_link(place: Path) -> None:
    place.symlink_to(place.parent / "nowhere")


@pytest.mark.parametrize("obstacle", [a_file, a_link, a_dangling_link])
async def test_case_137_139_an_obstacle_ends_the_launch_and_names_the_scope(rig: MurmurRig, obstacle: Callable[[Path], None]) -> None:
    rig.accessible.mkdir()
    obstacle(rig.accessible / "hook-state")
    rig.hook("hook", hook(), grant=Grant(scope="hook-state"))
    hooks = await rig.stage()

    with pytest.raises(HookUnusable, match=r"hook hook@1\.0\.0: filesystem\.scope: hook-state: "):
        await hooks.open()


async def test_nothing_is_made_behind_a_link_that_leads_out(rig: MurmurRig, tmp_path: Path) -> None:
    rig.accessible.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (rig.accessible / "link").symlink_to(outside)
    (rig.accessible / "round").symlink_to("round")
    for scope in ("link/deep", "round/deep"):
        rig.hook(scope.partition("/")[0], hook(), grant=Grant(scope=scope))
        hooks = await rig.stage()

        with pytest.raises(HookUnusable, match="filesystem"):
            await hooks.open()

    assert os.listdir(outside) == []


async def test_at_on_stage_the_root_is_the_session_workdir(rig: MurmurRig) -> None:
    code = json.dumps({"on-stage": "open('here', 'w').write('x')"})
    rig.hook("hook", python_scripted().read_bytes(), binding="on-stage", grant=Grant(scope=".", config=code))
    await rig.stage()

    await rig.fire(STAGE)

    assert rig.sink.lines == []
    assert (rig.session / "here").read_text() == "x"


@pytest.mark.parametrize(("store", "folder"), [("notes", "notes"), ("", "nest")])
async def test_durable_state_outlives_the_launch(tmp_path: Path, rig: MurmurRig, store: str, folder: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / folder).mkdir(mode=0o755)

    assert await said(rig, "open('state/x', 'w').write('kept')\nsaid(os.listdir('state'))", state=store) == "['x']"

    place = tmp_path / "state" / folder
    assert (place / "x").read_text() == "kept"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


async def test_a_scope_and_a_store_stand_side_by_side(rig: MurmurRig) -> None:
    code = "open('a', 'w').write('a')\nopen('state/b', 'w').write('b')\nsaid('done')"

    assert await said(rig, code, scope="hook-state", state="") == "done"
    assert os.listdir(rig.accessible / "hook-state") == ["a"]
    assert os.listdir(rig.folder / "state" / "nest") == ["b"]


async def test_a_store_that_is_a_file_ends_the_launch(tmp_path: Path, rig: MurmurRig) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "notes").touch()
    rig.hook("hook", hook(), grant=Grant(state="notes"))
    hooks = await rig.stage()

    with pytest.raises(HookUnusable, match=r"state\.store"):
        await hooks.open()


async def test_case_140_its_configuration_and_nothing_of_the_host(rig: MurmurRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("MURMUR_CASE_ID", "of the host")
    rig.environment = {"MURMUR_OTEL_ENDPOINT": "e", "MURMUR_FORMATION_ID": "f", "MURMUR_EVAL_CONFIG": "{}", "HOME": "/home/dev"}

    found = json.loads(await said(rig, "said(json.dumps(dict(os.environ)))"))

    assert {name: value for name, value in found.items() if name != "MURMUR_ARTIFACT_CONFIG"} == {
        "MURMUR_OTEL_ENDPOINT": "e",
        "MURMUR_FORMATION_ID": "f",
        "MURMUR_EVAL_CONFIG": "{}",
    }
    assert json.loads(found["MURMUR_ARTIFACT_CONFIG"]) == {"on-shell": "said(json.dumps(dict(os.environ)))"}


async def test_case_140_at_on_stage_there_are_only_two(rig: MurmurRig) -> None:
    rig.environment = {"MURMUR_OTEL_ENDPOINT": "e", "MURMUR_FORMATION_ID": "f", "MURMUR_EVAL_CONFIG": "{}"}
    code = json.dumps({"on-stage": "said(sorted(os.environ))"})
    rig.hook("hook", python_scripted().read_bytes(), binding="on-stage", grant=Grant(config=code))
    await rig.stage()

    await rig.fire(STAGE)

    assert rig.sink.of("hook") == ["['MURMUR_ARTIFACT_CONFIG', 'MURMUR_FORMATION_ID']"]


async def test_case_140_the_configuration_of_one_hook_is_not_anothers(rig: MurmurRig) -> None:
    code = {"on-shell": "said(os.environ.get('MURMUR_ARTIFACT_CONFIG', 'absent'))"}
    rig.hook("with", python_scripted().read_bytes(), grant=Grant(config=json.dumps(code)))
    rig.hook("without", python_scripted().read_bytes())
    await rig.start()

    await rig.fire(SHELL_RAN)

    assert rig.sink.lines == [("with", json.dumps(code))]


@pytest.mark.parametrize(
    ("allowed", "answer"), [("http://127.0.0.1:PORT", "sent"), ("127.0.0.1", "sent"), ("http://127.0.0.1:1", "denied"), ("", "denied")]
)
async def test_case_136_requests_go_where_the_grant_allows(rig: MurmurRig, allowed: str, answer: str) -> None:
    came = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        network = (parse_origin(allowed.replace("PORT", str(port))),) if allowed else ()
        rig.hook("hook", asking_hook(f"127.0.0.1:{port}"), grant=Grant(network=network))
        await rig.start()

        await rig.fire(SHELL_RAN)

        assert rig.sink.of("hook") == [answer]
        if answer == "sent":
            await came.wait()
        assert came.is_set() == (answer == "sent")


def test_case_136_an_origin_admits_itself_only() -> None:
    origin = parse_origin("http://127.0.0.1:1")

    assert origin.admits("http", "127.0.0.1", 1)
    for other in (("http", "127.0.0.1", 2), ("https", "127.0.0.1", 1), ("http", "127.0.0.2", 1), ("http", "localhost", 1)):
        assert not origin.admits(*other)


async def test_what_a_hook_prints_is_bounded(rig: MurmurRig) -> None:
    code = "for _ in range(2000): print('x' * 10_000)\nsaid('done')"

    assert await said(rig, code) == "done"


async def test_a_hook_without_any_import_needs_nothing(rig: MurmurRig) -> None:
    rig.hook("hook", hook({"on-shell": NONE}))
    await rig.start()

    await rig.fire(SHELL_RAN)

    assert rig.sink.lines == []
