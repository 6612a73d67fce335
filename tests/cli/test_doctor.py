"""`treblehook doctor`, as a process: what it looks at, its two outputs, its exit status."""

import json
import platform
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_home import CommandHome, Ran
from tests.support.extension_rig import write_extension, write_python_extension
from tests.support.needs import needs
from treblehook import __version__
from treblehook.home.health.installation import EXTRAS

MCP_SERVER = Path(__file__).parent.parent / "rig" / "tiny_mcp.py"


@pytest.fixture
def home(tmp_path: Path) -> CommandHome:
    return CommandHome(tmp_path / "home")


def findings(home: CommandHome, *, environment: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """What was found, by what was looked at; the exit status must fit."""
    run = home.run("doctor", "--output", "jsonl", environment=environment)
    assert run.err == ""
    assert {tuple(record) for record in run.records} == {("type", "what", "level", "message", "remedy")}
    assert {record["type"] for record in run.records} == {"finding"}
    assert {record["level"] for record in run.records} <= {"ok", "warning", "error"}
    assert run.status == (2 if any(record["level"] == "error" for record in run.records) else 0)
    return {record["what"]: record for record in run.records}


def py(home: CommandHome, id: str, activate: str, **more: Any) -> None:
    write_python_extension(home.folder / "extensions" / id, id, activate, **more)


def test_a_home_that_is_well(home: CommandHome) -> None:
    home.hook("pre_turn", "fine", "exit 0")
    before = home.everything()

    found = findings(home)

    assert {one["level"] for one in found.values()} == {"ok"}
    assert platform.python_version() in found["python"]["message"]
    assert sys.executable in found["python"]["message"]
    assert found["treblehook"]["message"] == f"version {__version__}"
    assert found["files"]["message"] == "config.json and config.toml load, 1 hook"
    assert found["home"]["message"].startswith(f"{home.folder}, mode 0")
    assert home.everything() == before


def test_in_text_it_is_a_line_for_each(home: CommandHome) -> None:
    home.settings("[model]\ndefault = 5\n")

    run: Ran = home.run("doctor")

    lines = run.out.splitlines()
    assert run.status == 2
    assert lines[1] == f"ok      treblehook: version {__version__}"
    assert any(line.startswith(f"error   files: {home.folder}/config.toml: model.default: ") for line in lines)
    assert {line[:8].strip() for line in lines} == {"ok", "error"}


def test_every_extra_of_the_package_is_looked_for(home: CommandHome) -> None:
    declared = set(metadata("treblehook").get_all("Provides-Extra") or ()) - {"adapters-dev", "all", "bench", "dev"}
    found = findings(home)

    assert set(EXTRAS) == declared
    for extra in EXTRAS:
        one = found[f"extra {extra}"]
        assert one["message"].startswith(("installed", "not installed"))
        assert one["remedy"] == ("" if one["message"] == "installed" else f"pip install 'treblehook[{extra}]'")


def test_looking_for_extras_imports_none_of_them() -> None:
    code = (
        "import sys\nfrom treblehook.home.health.installation import EXTRAS, installed\nlist(installed())\n"
        "print({module for modules in EXTRAS.values() for module in modules} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "set()\n"


def test_a_home_that_is_not_there_yet_is_a_warning(home: CommandHome, tmp_path: Path) -> None:
    run = home.bare_run("doctor", "--output", "jsonl", environment={"TREBLEHOOK_HOME": str(tmp_path / "none")})

    [warning] = [record for record in run.records if record["level"] != "ok"]
    assert (run.status, warning["what"], warning["level"]) == (0, "home", "warning")
    assert not (tmp_path / "none").exists()


def test_a_home_that_others_may_write_to(home: CommandHome) -> None:
    home.folder.chmod(0o777)

    found = findings(home)["home"]

    assert (found["level"], found["remedy"]) == ("warning", f"chmod go-w {home.folder}")


@pytest.mark.parametrize("where", ["config.json", "config.toml"])
def test_files_that_do_not_load_are_errors(home: CommandHome, where: str) -> None:
    (home.folder / where).write_text("{{{")

    found = findings(home)["files"]

    assert found["level"] == "error"
    assert str(home.folder / where) in found["message"]


def test_what_a_check_finds_is_found(home: CommandHome) -> None:
    home.entry("pre_tool_use", "gone")

    [problem] = home.found()
    found = findings(home)["files"]

    assert found["level"] == "error"
    assert found["message"] == f"{problem['file']}: {problem['place']}: {problem['message']}"


def test_each_python_extension_is_active_or_failed(home: CommandHome) -> None:
    py(home, "good", "")
    py(home, "bad", "raise ValueError('no treasure')")
    py(home, "leaves", "sys.exit(3)")
    (home.folder / "extensions" / "broken").mkdir()
    (home.folder / "extensions" / "broken" / "vera.extension.json").write_text("{}")

    found = findings(home)

    assert found["extension good"]["message"] == f"active, {home.folder}/extensions/good/main.py"
    assert [found[f"extension {name}"]["level"] for name in ("good", "bad", "leaves", "broken")] == ["ok", "error", "error", "error"]
    bad = found["extension bad"]["message"]
    assert bad.startswith(f"{home.folder}/extensions/bad/main.py: extension bad does not load: ValueError: no treasure (")
    assert "it called sys.exit(3)" in found["extension leaves"]["message"]
    assert f"{home.folder}/extensions/broken/vera.extension.json" in found["extension broken"]["message"]
    assert found["node"]["level"] == "ok"
    assert not (home.folder / "runtime").exists()


@needs("node")
def test_javascript_extensions_are_activated_too(home: CommandHome) -> None:
    write_extension(home.folder / "extensions" / "good", "good", "")
    write_extension(home.folder / "extensions" / "bad", "bad", "throw new Error('no treasure');")

    found = findings(home)

    assert found["node"]["message"].startswith("v")
    assert found["extension good"]["level"] == "ok"
    assert "Error: no treasure" in found["extension bad"]["message"]


@pytest.mark.parametrize("needed", [True, False])
def test_node_is_missed_only_by_those_who_need_it(home: CommandHome, tmp_path: Path, needed: bool) -> None:
    if needed:
        write_extension(home.folder / "extensions" / "one", "one", "")
    else:
        py(home, "one", "")

    found = findings(home, environment={"PATH": str(tmp_path)})

    assert found["node"]["level"] == ("error" if needed else "ok")
    assert found["node"]["message"].startswith("not found; ")
    assert found["extension one"]["level"] == ("error" if needed else "ok")


@pytest.mark.parametrize(("version", "told"), [("v18.3.0", "is v18.3.0"), ("", "does not tell its version")])
def test_a_node_that_is_too_old(home: CommandHome, tmp_path: Path, version: str, told: str) -> None:
    program = tmp_path / "programs" / "node"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{f'echo {version}' if version else 'exit 1'}\n")
    program.chmod(0o755)
    write_extension(home.folder / "extensions" / "one", "one", "")

    found = findings(home, environment={"PATH": str(program.parent)})["node"]

    assert found["level"] == "error"
    assert told in found["message"]


def test_a_model_that_does_not_open(home: CommandHome) -> None:
    home.settings('[model]\ndefault = "nobody:x"\n')

    assert findings(home)["model"]["level"] == "error"


def test_a_model_that_opens(home: CommandHome, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps([{"text": "hello"}]))
    home.settings(f'[model]\ndefault = "script:{tmp_path / "model.json"}"\n')

    found = findings(home)["model"]

    assert (found["level"], found["message"]) == ("ok", f"script:{tmp_path / 'model.json'} opens; nothing was sent to it")


def test_mcp_servers_are_started_and_ended(home: CommandHome) -> None:
    command = json.dumps([sys.executable, str(MCP_SERVER)])
    home.settings(f'[mcp.good]\ncommand = {command}\n[mcp.gone]\ncommand = ["no-such-program-here"]\n')

    found = findings(home)

    assert found["mcp good"]["level"] == "ok"
    assert found["mcp good"]["message"].startswith("starts and offers ")
    assert found["mcp gone"]["level"] == "warning"
    assert "the MCP server gone: not started: " in found["mcp gone"]["message"]
    assert list(found)[-2:] == ["mcp good", "mcp gone"]
