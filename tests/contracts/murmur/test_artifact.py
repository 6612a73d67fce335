"""The package of a hook (murmur.md 2.1, case 22)."""

import os
import zipfile
from pathlib import Path

import pytest

from treblehook.contracts.murmur import artifact as module
from treblehook.contracts.murmur.artifact import Artifact, read_artifact
from treblehook.contracts.murmur.errors import ArtifactInvalid


def zipped(path: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def folder(path: Path, **files: bytes) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def read(path: Path) -> Artifact:
    return read_artifact(path, "guard", "1.2.0")


def refused(path: Path) -> str:
    with pytest.raises(ArtifactInvalid) as caught:
        read(path)
    message = str(caught.value)
    assert "guard@1.2.0" in message
    assert str(path) in message
    return message


@pytest.mark.parametrize("pack", [zipped, folder])
def test_one_component_beside_its_manifest(tmp_path: Path, pack: object) -> None:
    entries = {"murmur.yaml": b"name: guard", "guard.wasm": b"\0asm", "lib/other.wasm": b"x", "notes.txt": b""}
    found = read(pack(tmp_path / "g", **entries))  # type: ignore[operator]  # either of two functions

    assert (found.manifest, found.payload_name, found.payload) == (b"name: guard", "guard.wasm", b"\0asm")


def test_capsule_wasm_wins(tmp_path: Path) -> None:
    assert read(zipped(tmp_path / "g", **{"murmur.yaml": b"", "a.wasm": b"a", "capsule.wasm": b"c"})).payload == b"c"


def test_case_022_two_components(tmp_path: Path) -> None:
    message = refused(zipped(tmp_path / "g", **{"murmur.yaml": b"", "b.wasm": b"", "a.wasm": b""}))

    assert "a.wasm, b.wasm" in message


@pytest.mark.parametrize(
    "entries",
    [
        {"murmur.yaml": b""},
        {"murmur.yaml": b"", "lib/a.wasm": b""},
        {"murmur.yaml": b"", "/a.wasm": b""},
    ],
)
def test_no_component_at_the_root(tmp_path: Path, entries: dict[str, bytes]) -> None:
    assert "missing root wasm" in refused(zipped(tmp_path / "g", **entries))


def test_no_manifest(tmp_path: Path) -> None:
    assert "murmur.yaml" in refused(zipped(tmp_path / "g", **{"a.wasm": b""}))


@pytest.mark.parametrize("name", ["../a.wasm", "x/../../a.txt", "..\\a.txt", "a/.."])
def test_a_name_that_leads_out(tmp_path: Path, name: str) -> None:
    assert "leads out" in refused(zipped(tmp_path / "g", **{"murmur.yaml": b"", "a.wasm": b"", name: b""}))


def test_a_file_that_stands_twice(tmp_path: Path) -> None:
    path = tmp_path / "g"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("murmur.yaml", b"")
        archive.writestr("a.wasm", b"one")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.wasm", b"two")

    assert "stand twice" in refused(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAYLOAD_BYTES", 100_000)

    assert "100000 bytes" in refused(zipped(tmp_path / "g", **{"murmur.yaml": b"", "a.wasm": bytes(100_001)}))
    assert "murmur.yaml" in refused(zipped(tmp_path / "h", **{"murmur.yaml": bytes(300_000), "a.wasm": b""}))


def test_what_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no zip")
    whole = zipped(tmp_path / "whole", **{"murmur.yaml": b"name: x", "a.wasm": os.urandom(5000)}).read_bytes()
    (tmp_path / "damaged").write_bytes(whole[:200] + bytes(200) + whole[400:])
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    os.mkfifo(tmp_path / "pipe")

    for name in ("text", "damaged", "cut", "pipe", "gone"):
        refused(tmp_path / name)


def test_ten_thousand_entries(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "g", "w") as archive:
        for at in range(10_001):
            archive.writestr(f"{at}", b"")

    assert "10001 entries" in refused(tmp_path / "g")
