"""What a capsule offers: file tools that stay inside, commands, tool artifacts (murmur.md 5.1, 5.6, 8.2)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.capsule_rig import CapsuleRig, call, calls
from treblehook.capsule.tools.background import BackgroundCommands
from treblehook.capsule.tools.shell_command import ShellCommand
from treblehook.capsule.workdir import workdir_of
from treblehook.host.tool import ToolContext
from treblehook.runtimes.process import ProcessRuntime

OUTSIDE = [
    call("read", path="../secret"),
    call("read", path="link"),
    call("read", path="folder/secret"),
    call("write", path="../new", content="x"),
    call("write", path="folder/new", content="x"),
    call("write", path="link", content="x"),
    call("edit", path="link", old="gold", new="sand"),
    call("grep", pattern="gold", path=".."),
    call("grep", pattern="gold", path="folder"),
    call("glob", pattern="*", path=".."),
    call("glob", pattern="*", path="folder"),
]


@pytest.fixture
def outside(rig: CapsuleRig, tmp_path: Path) -> Path:
    """A file outside of the workdir, with links that lead there."""
    secret = tmp_path / "secret"
    secret.write_text("gold")
    rig.given_workdir = tmp_path / "work"
    rig.given_workdir.mkdir()
    (rig.given_workdir / "inside").write_text("gold")
    (rig.given_workdir / "link").symlink_to(secret)
    (rig.given_workdir / "folder").symlink_to(tmp_path)
    return secret


def secret_of(file: Path) -> str:
    return file.read_text()


async def results(rig: CapsuleRig, *each: dict[str, Any]) -> list[dict[str, Any]]:
    rig.plays(calls(*each), {"text": "Done."})
    await rig.launch()
    return rig.results()


@pytest.mark.parametrize("wanted", OUTSIDE, ids=lambda wanted: json.dumps(wanted["args"]))
async def test_a_path_that_leads_out_is_refused(rig: CapsuleRig, outside: Path, wanted: dict[str, Any]) -> None:
    before = sorted(outside.parent.iterdir())

    (result,) = await results(rig, wanted)

    assert result["is_error"]
    assert "not in the workdir" in result["content"]
    assert sorted(outside.parent.iterdir()) == before
    assert secret_of(outside) == "gold"


@pytest.mark.parametrize("pattern", ["*", "**", "**/secret", "folder/*", "../*", "{..,.}/*", "/etc/*", "*/secret", "~/*"])
async def test_a_pattern_finds_nothing_outside(rig: CapsuleRig, outside: Path, pattern: str) -> None:
    (result,) = await results(rig, call("glob", pattern=pattern))

    found = [rig.work / line for line in result["content"].splitlines() if not line.startswith("[")]
    assert all(path.resolve().is_relative_to(rig.work.resolve()) for path in found)
    assert rig.work / "link" not in found


async def test_a_search_finds_nothing_outside(rig: CapsuleRig, outside: Path) -> None:
    (result,) = await results(rig, call("grep", pattern="gold"))

    lines = [line for line in result["content"].splitlines() if not line.startswith(".murmur/")]
    assert lines == ["inside:1: gold"]


@pytest.mark.parametrize("path", ["trace.jsonl", "MURMUR.md", "tools/bash/murmur.yaml", "logs/hook-x.log", ".murmur/ses_0/trace.jsonl"])
async def test_the_runtimes_own_files_are_not_written_by_tools(rig: CapsuleRig, path: str) -> None:
    (result,) = await results(rig, call("write", path=path, content="mine"))

    assert "belongs to the runtime" in result["content"]
    assert rig.types()[-1] == "session_end"
    # Reading them is fine.
    assert not (await results(rig, call("read", path="MURMUR.md")))[-1]["is_error"]


async def test_files_are_written_read_and_edited_inside(rig: CapsuleRig) -> None:
    found = await results(
        rig,
        call("write", path="a/b.txt", content="sand\n"),
        call("edit", path="a/b.txt", old="sand", new="gold"),
        call("read", path="a/b.txt"),
        call("read", path="./a/../a/b.txt"),
    )

    assert [result["is_error"] for result in found] == [False] * 4
    assert found[2]["content"].endswith("gold")


# Commands


async def test_a_program_that_is_not_there(rig: CapsuleRig) -> None:
    rig.sets(capabilities={"shell": {"allow": ["no-such-program"]}})

    (result,) = await results(rig, call("no-such-program", command="x"))

    assert result["is_error"]
    assert "there is no program no-such-program on PATH" in result["content"]
    assert rig.trace("shell") == []


async def test_each_stream_is_cut_at_16_kib(rig: CapsuleRig) -> None:
    script = "head -c 20000 /dev/zero | tr '\\0' o; head -c 20000 /dev/zero | tr '\\0' e >&2"

    (result,) = await results(rig, call("bash", command=script))

    # That is more than the model is shown at once.
    whole = next((rig.session / "out" / "calls").iterdir())
    assert str(whole) in result["content"]
    assert whole.read_text() == f"{'o' * 16_384}\n[standard error]\n{'e' * 16_384}"
    assert (rig.only("shell")["stdout_bytes"], rig.only("shell")["stderr_bytes"]) == (16_384, 16_384)


async def test_a_death_by_signal(rig: CapsuleRig) -> None:
    (result,) = await results(rig, call("bash", command="kill -TERM $$"))

    assert rig.only("shell")["exit_code"] == 128 + 15
    assert "signal 15" in result["content"]


async def test_a_command_that_takes_longer_than_the_limit(rig: CapsuleRig) -> None:
    rig.sets(capabilities={"limits": {"deadline_seconds": 0.2}})

    (result,) = await results(rig, call("bash", command="sleep 60"))

    assert "Not finished after 0.2 s" in result["content"]


async def test_what_is_run_is_what_was_resolved(rig: CapsuleRig) -> None:
    await results(
        rig, call("bash", command="printf '#!/bin/sh\\necho false\\n' > echo; chmod +x echo; PATH=.:$PATH"), call("echo", command="x")
    )

    assert rig.results()[1]["content"] == "x"


def test_a_recipe_is_none_where_a_hook_has_added_what_changes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Make tells what it runs, as these tests, how it was called.
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    (tmp_path / "Makefile").write_text("build:\n\techo safe\n")
    tool = ShellCommand("make", "", ProcessRuntime(), BackgroundCommands(workdir_of("s", tmp_path, None), 1.0), seconds=1.0)

    def recipe(**environment: str) -> str | None:
        return tool.prepare({"command": "build"}, ToolContext(tmp_path, "s", "c", environment, lambda text: None)).recipe

    assert recipe(OTHER="x") == recipe(PATH="/nowhere") == "echo safe"
    assert recipe(MAKEFLAGS="--eval=build:") is recipe(MAKEFILES="x.mk") is None


async def test_an_allowed_program_named_like_a_file_tool_is_the_program(rig: CapsuleRig) -> None:
    rig.sets(capabilities={"shell": {"allow": ["grep"]}})

    (result,) = await results(rig, call("grep", command="-c Dig task.md"))

    assert result["content"].startswith(("0", "1"))
    assert rig.only("shell")["binary"].endswith("grep")


# Tool artifacts


async def test_a_tool_artifact_gets_its_input_as_json(rig: CapsuleRig) -> None:
    schema = "description: Digs.\ninput_schema:\n  type: object\n  properties: {place: {type: string}}\n"
    rig.tool("dig", "#!/bin/sh\ncat; pwd; echo seen >&2\n", schema)

    (result,) = await results(rig, call("dig", place="palm"))

    spec = next(tool for tool in rig.queries[0].tools if tool.name == "dig")
    assert (spec.description, spec.parameters["properties"]) == ("Digs.", {"place": {"type": "string"}})
    assert result["content"].splitlines() == ['{"place":"palm"}' + str(rig.work)]
    assert rig.only("tool_call")["tool_name"] == "dig"
    assert "### dig" in (rig.session / "MURMUR.md").read_text()


@pytest.mark.parametrize(
    ("script", "content", "is_error"),
    [
        ("echo out; echo why >&2; exit 3", "out\nwhy\n[exit status 3]", True),
        ("""echo '{"status":"passed","summary":"dug","data":"gold"}'""", "dug\ngold", False),
        ("""echo '{"status":"failed","summary":"no luck"}'""", "no luck", True),
        ("""echo '{"other":1}'""", '{"other":1}\n', False),
    ],
)
async def test_what_a_tool_artifact_answers(rig: CapsuleRig, script: str, content: str, is_error: bool) -> None:
    rig.tool("dig", f"#!/bin/sh\n{script}\n")

    (result,) = await results(rig, call("dig"))

    assert (result["content"], result["is_error"]) == (content, is_error)


async def test_a_tool_artifact_that_cannot_be_run(rig: CapsuleRig) -> None:
    rig.tool("dig", "no program\n")

    (result,) = await results(rig, call("dig"))

    assert result["is_error"]
    assert "The tool dig failed" in result["content"]
