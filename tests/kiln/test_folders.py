"""Which folders are watched: never through links, and without a folder that cannot be."""

import os
from pathlib import Path

import pytest

from tests.support.kiln_rig import KilnRig
from treblehook.kiln.watching.folders import plan_folders


def planned(root: Path) -> tuple[list[str], list[str]]:
    folders = plan_folders(str(root))
    return (
        sorted(os.path.relpath(tree, root) for tree in folders.trees),
        sorted(os.path.relpath(folder, root) for folder in folders.single),
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("a/deep", "b/x/y", "b/z"):
        (tmp_path / "kiln" / folder).mkdir(parents=True)
    return tmp_path / "kiln"


def test_a_kiln_with_nothing_special_is_one_tree(root: Path) -> None:
    assert planned(root) == (["."], [])


def test_what_is_left_out_is_not_watched(root: Path) -> None:
    (root / ".git" / "objects").mkdir(parents=True)

    assert planned(root) == (["a", "b"], ["."])


def test_the_folders_above_a_link_are_watched_by_themselves(root: Path, tmp_path: Path) -> None:
    (root / "b" / "x" / "all").symlink_to(tmp_path)
    (root / "b" / "broken").symlink_to("nowhere")
    (root / "note.md").symlink_to("elsewhere.md")

    assert planned(root) == (["a", "b/x/y", "b/z"], [".", "b", "b/x"])


def test_a_folder_that_cannot_be_read_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("/b/x"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    # Nobody can take a folder's rights from root, who may run the tests.
    monkeypatch.setattr(os, "scandir", refusing)

    assert planned(root) == (["a", "b/z"], [".", "b"])
    assert plan_folders(str(root)).unwatched == {f"{root}/b/x": "Permission denied"}


def test_a_kiln_that_is_not_there_cannot_be_planned_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        plan_folders(str(tmp_path / "nowhere"))


async def test_new_folders_beside_what_is_left_out_are_watched(rig: KilnRig) -> None:
    rig.write(".git/HEAD", "x")
    (rig.root / "loop").symlink_to(rig.root)
    async with rig.watched():
        rig.write("new/deep/a.md", "a")
        await rig.until(lambda: "created new/deep/a.md 'a'" in rig.told())
        rig.write("new/deep/b.md", "b")
        rig.write("new/deeper/c.md", "c")
        await rig.until(lambda: len(rig.notes_told()) == 3)
        (rig.root / "new" / "deep" / "b.md").unlink()
        await rig.until(lambda: "deleted new/deep/b.md True" in rig.told())

    assert rig.notes_told() == [
        "created new/deep/a.md 'a'",
        *sorted(["created new/deep/b.md 'b'", "created new/deeper/c.md 'c'"], key=rig.notes_told().index),
        "deleted new/deep/b.md True",
    ]


async def test_what_happens_behind_a_link_is_nothing(rig: KilnRig) -> None:
    outside = rig.root.with_name("outside")
    outside.mkdir()
    (rig.root / "link").symlink_to(outside)
    async with rig.watched():
        (outside / "a.md").write_text("a")
        assert await rig.settled() == []
