"""`vera.extension.json` (vera.md 5.1)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from treblehook.contracts.vera.extensions.manifest import read_manifest
from treblehook.host.problems import ConfigInvalid

WHOLE: dict[str, Any] = {
    "id": "example.lookout",
    "version": "1.0.0",
    "sdk": "1",
    "entrypoint": "index.mjs",
    "capabilities": ["hooks.command"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "lookout"
    folder.mkdir()
    (folder / "index.mjs").write_text("export function activate() {}")
    return folder


def write(folder: Path, **changes: Any) -> None:
    content = {key: value for key, value in {**WHOLE, **changes}.items() if value is not Ellipsis}
    (folder / "vera.extension.json").write_text(json.dumps(content))


def problem(folder: Path) -> str:
    with pytest.raises(ConfigInvalid) as caught:
        read_manifest(folder)
    [found] = caught.value.problems
    assert found.file == str(folder / "vera.extension.json")
    return f"{found.place}: {found.message}"


def test_a_whole_manifest(folder: Path) -> None:
    write(folder, contributes={})

    manifest = read_manifest(folder)

    assert (manifest.id, manifest.version, manifest.capabilities) == ("example.lookout", "1.0.0", ("hooks.command",))
    assert manifest.entry == os.path.realpath(folder / "index.mjs")


def test_contributes_may_be_left_out_and_other_keys_may_be_there(folder: Path) -> None:
    write(folder, description="looks out")

    assert read_manifest(folder).id == "example.lookout"


@pytest.mark.parametrize("id", ["a", "a1", "lookout", "example.lookout", "a.b-c_d", "1.2", "a-1"])
def test_ids(folder: Path, id: str) -> None:
    write(folder, id=id)

    assert read_manifest(folder).id == id


@pytest.mark.parametrize("id", ["", "A", "a..b", ".a", "a.", "a b", "a--b", "a._b", "é", "a/b", "a\n", 5, None, ...])
def test_what_is_no_id(folder: Path, id: Any) -> None:
    write(folder, id=id)

    assert problem(folder).startswith("id: ")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"version": " "}, "version"),
        ({"version": 1}, "version"),
        ({"version": ...}, "version"),
        ({"sdk": 1}, "sdk"),
        ({"sdk": "2"}, "sdk"),
        ({"sdk": ...}, "sdk"),
        ({"entrypoint": ""}, "entrypoint"),
        ({"entrypoint": ...}, "entrypoint"),
        ({"entrypoint": "/etc/passwd"}, "entrypoint"),
        ({"entrypoint": "../outside.mjs"}, "entrypoint"),
        ({"entrypoint": "."}, "entrypoint"),
        ({"entrypoint": "missing.mjs"}, "entrypoint"),
        ({"entrypoint": "a\0b"}, "entrypoint"),
        ({"capabilities": ...}, "capabilities"),
        ({"capabilities": "hooks.command"}, "capabilities"),
        ({"capabilities": ["a", " "]}, "capabilities[1]"),
        ({"capabilities": ["a", 1]}, "capabilities[1]"),
        ({"capabilities": ["a", "b", "a"]}, "capabilities[2]"),
        ({"contributes": []}, "contributes"),
        ({"contributes": None}, "contributes"),
    ],
)
def test_what_is_wrong_is_at_its_place(folder: Path, changes: dict[str, Any], place: str) -> None:
    (folder.parent / "outside.mjs").write_text("")
    write(folder, **changes)

    assert problem(folder).startswith(f"{place}: ")


def test_everything_wrong_is_told_at_once(folder: Path) -> None:
    write(folder, id="A", version="", sdk=1)

    with pytest.raises(ConfigInvalid) as caught:
        read_manifest(folder)

    assert {found.place for found in caught.value.problems} == {"id", "version", "sdk"}


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"id": NaN}', "5"])
def test_what_is_no_object(folder: Path, text: str) -> None:
    (folder / "vera.extension.json").write_text(text)

    problem(folder)


def test_a_missing_manifest(folder: Path) -> None:
    assert "cannot be read" in problem(folder)


def test_a_directory_as_entry(folder: Path) -> None:
    (folder / "lib").mkdir()
    write(folder, entrypoint="lib")

    assert "is not a file" in problem(folder)


def test_a_link_that_stays_inside_is_followed(folder: Path) -> None:
    (folder / "link.mjs").symlink_to("index.mjs")
    write(folder, entrypoint="link.mjs")

    assert read_manifest(folder).entry == os.path.realpath(folder / "index.mjs")


def test_an_entry_that_is_a_link_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "outside.mjs").write_text("")
    (folder / "link.mjs").symlink_to(folder.parent / "outside.mjs")
    write(folder, entrypoint="link.mjs")

    assert "outside the extension's folder" in problem(folder)


def test_a_folder_of_the_entry_that_is_a_link_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "lib").mkdir()
    (folder.parent / "lib" / "index.mjs").write_text("")
    (folder / "lib").symlink_to(folder.parent / "lib")
    write(folder, entrypoint="lib/index.mjs")

    assert "outside the extension's folder" in problem(folder)


def test_a_neighbour_whose_name_begins_alike_is_outside(folder: Path) -> None:
    evil = folder.parent / "lookout-evil"
    evil.mkdir()
    (evil / "index.mjs").write_text("")
    write(folder, entrypoint="../lookout-evil/index.mjs")

    assert "outside the extension's folder" in problem(folder)


def test_a_manifest_that_is_a_link_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "outside.json").write_text(json.dumps(WHOLE))
    (folder / "vera.extension.json").symlink_to(folder.parent / "outside.json")

    assert "outside the extension's folder" in problem(folder)


def test_a_folder_that_is_named_by_a_link_is_itself(folder: Path) -> None:
    write(folder)
    (folder.parent / "alias").symlink_to(folder)

    assert read_manifest(folder.parent / "alias").folder == os.path.realpath(folder)


def test_a_pipe_in_place_of_the_manifest_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "vera.extension.json")

    assert problem(folder) == ": is not a file"
