"""Gemini CLI opens other files than those that are named (0.61.0); a guard is never shown a path that is not the one that is opened."""

import json
from pathlib import Path
from typing import Any

import pytest

from treblehook.gateway.agents.gemini import Gemini
from treblehook.gateway.codec import Codec, PayloadInvalid
from treblehook.gateway.values import Arrived, CallComing, CallDone, RunRewritten

CODEC: Codec = Gemini()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where Gemini works."""
    (tmp_path / "@types").mkdir()
    (tmp_path / "@types" / "old.d.ts").touch()
    (tmp_path / "@alias.txt").touch()
    (tmp_path / "there.txt").touch()
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").touch()
    return tmp_path


def arrived(folder: Path, tool: str, event: str = "BeforeTool", **given: Any) -> Arrived:
    payload = {"session_id": "s", "cwd": str(folder), "tool_name": tool, "tool_input": given, "tool_response": {"llmContent": ""}}
    return CODEC.decode(event, payload)


@pytest.mark.parametrize("tool", ["read_file", "write_file", "replace"])
@pytest.mark.parametrize(
    "path",
    # Decoded, without NUL, and without the @ of a path that is not there.
    ["/etc/%70asswd", "%2egit/config", "a%2Fb", "/etc/pass\0wd", "@.env", "@/etc/passwd", "@there.txt", "@none/a"],
)
def test_a_path_that_gemini_reads_otherwise_is_invalid(folder: Path, tool: str, path: str) -> None:
    with pytest.raises(PayloadInvalid, match="file_path"):
        arrived(folder, tool, file_path=path)


@pytest.mark.parametrize("tool", ["read_file", "write_file", "replace"])
@pytest.mark.parametrize("path", ["there.txt", "/not/there", "@alias.txt", "@types/old.d.ts", "/a/@b", "/100%", "/a%zz"])
def test_a_path_that_reads_in_one_way_is_taken(folder: Path, tool: str, path: str) -> None:
    what = arrived(folder, tool, file_path=path).what
    assert isinstance(what, CallComing)
    assert what.call.input == {"path": path}


@pytest.mark.parametrize("path", ["settings.json", "new.txt", "gemini/settings.json"])
def test_an_edit_of_a_file_that_is_not_there_is_invalid(folder: Path, path: str) -> None:
    """Gemini looks for one whose path ends so, and that may be its own settings."""
    with pytest.raises(PayloadInvalid, match="absolute"):
        arrived(folder, "replace", file_path=path)
    assert isinstance(arrived(folder, "write_file", file_path=path).what, CallComing)


def test_a_new_file_in_a_folder_that_is_there_keeps_its_at_sign(folder: Path) -> None:
    assert isinstance(arrived(folder, "write_file", file_path="@types/new.d.ts").what, CallComing)


def test_what_has_run_is_told_whatever_its_path(folder: Path) -> None:
    what = arrived(folder, "read_file", "AfterTool", file_path="@there.txt").what
    assert isinstance(what, CallDone)
    assert what.call.input == {"path": "@there.txt"}


@pytest.mark.parametrize(
    ("tool", "given"), [("list_directory", {"dir_path": "@x"}), ("run_shell_command", {"path": "@x"}), ("other", {"path": "%41"})]
)
def test_other_tools_open_nothing_by_path(folder: Path, tool: str, given: dict[str, Any]) -> None:
    assert isinstance(arrived(folder, tool, **given).what, CallComing)


@pytest.mark.parametrize("path", ["%2egit", "@.env", "settings.json"])
def test_a_rewrite_to_such_a_path_is_denied(folder: Path, path: str) -> None:
    said = CODEC.encode(arrived(folder, "replace", file_path="there.txt"), RunRewritten({"path": path}))
    assert said["decision"] == "deny"
    assert json.dumps(path) in said["reason"]
