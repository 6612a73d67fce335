"""What a home remembers of its installations."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from treblehook.gateway.install.record import Installed, Record
from treblehook.host.problems import ConfigInvalid


def one(agent: str, file: str = "/f", mode: int | None = None, folders: tuple[str, ...] = ()) -> Installed:
    return Installed(agent, file, {"Stop": "open"}, {"hooks": None, "": None}, mode, folders)


def test_what_is_kept_is_found_until_it_is_forgotten(tmp_path: Path) -> None:
    record, full = Record(tmp_path), one("qwen", mode=0o644, folders=("/a", "/a/b"))
    assert record.entries() == []
    for each in (one("gemini"), one("qwen"), one("qwen", "/g"), full):
        record.keep(each)
    assert Record(tmp_path).entries() == [one("gemini"), full, one("qwen", "/g")]
    assert record.find("qwen", Path("/f")) == full
    assert record.find("codex", Path("/f")) is None
    assert record.files("qwen") == [Path("/f"), Path("/g")]
    for agent, file in (("qwen", "/f"), ("qwen", "/g"), ("gemini", "/f"), ("gemini", "/f")):
        record.forget(agent, Path(file))
    assert record.entries() == []
    assert not (tmp_path / "gateway" / "installed.json").exists()


def test_forgetting_in_a_home_that_is_not_there_makes_none(tmp_path: Path) -> None:
    Record(tmp_path / "home").forget("qwen", Path("/f"))
    assert list(tmp_path.iterdir()) == []


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: Record(tmp_path).keep(one("qwen", f"/{number}")), range(40)))
    assert {one.file for one in Record(tmp_path).entries()} == {f"/{number}" for number in range(40)}


def test_the_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    Record(tmp_path / "home").keep(one("pi"))
    assert stat.S_IMODE((tmp_path / "home" / "gateway").stat().st_mode) == 0o700
    assert [name for name in os.listdir(tmp_path / "home" / "gateway") if name.startswith(".")] == []


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'[{"agent": "pi"}]', b"\xff"])
def test_what_is_no_record_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "gateway").mkdir()
    (tmp_path / "gateway" / "installed.json").write_bytes(content)
    with pytest.raises(ConfigInvalid, match=r"installed\.json: found no list of installations"):
        Record(tmp_path).keep(one("pi"))
    assert (tmp_path / "gateway" / "installed.json").read_bytes() == content


def test_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "gateway").write_text("no folder")
    with pytest.raises(ConfigInvalid, match=r"it cannot be (written|read): "):
        Record(tmp_path).keep(one("pi"))
