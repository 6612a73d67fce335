"""Opening a file of which nobody knows what it is."""

import os
from pathlib import Path

import pytest

from tests.support.processes import held
from treblehook.host.opening import open_unknown


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")

    for name in ("file", "link"):
        with open_unknown(tmp_path / name) as opened:
            assert opened.read() == b"text"


def test_a_pipe_does_not_make_anybody_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with open_unknown(tmp_path / "pipe") as opened:
        assert opened.read() == b""


@pytest.mark.parametrize("name", ["folder", "gone", "link"])
def test_what_cannot_be_read_leaves_nothing_open(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    before = held().descriptors

    with pytest.raises(OSError, match=name):
        open_unknown(tmp_path / name, follow_link=False)

    assert held().descriptors == before
