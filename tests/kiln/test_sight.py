"""What has become of files, whatever the system told of them, in any order: compared with what is on disk."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from treblehook.kiln.files.root import Root
from treblehook.kiln.files.walk import walk
from treblehook.kiln.watching.sight import Sight

PATHS = st.sampled_from(["a.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "z/d.md"])
FOLDERS = st.sampled_from(["x", "x/y", "z", "w"])


class Disk(RuleBasedStateMachine):
    """Files come, change, move and go; what sight answers, put together, is always what is there."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.sight = Sight(str(self.root), Root.at(str(self.root)), {})
        self.touched: dict[str, None] = {}
        self.believed: dict[str, str] = {}
        self.number = 0

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def there(self) -> dict[str, str]:
        return {path: (self.root / path).read_text() for path in walk(str(self.root)).notes}

    @rule(path=PATHS)
    def write(self, path: str) -> None:
        file = self.root / path
        if not file.parent.exists():
            # As the system does, which tells of the folder only.
            self.touched[next(str(part) for part in reversed(Path(path).parents) if not (self.root / part).exists())] = None
            file.parent.mkdir(parents=True)
        self.number += 1
        file.write_text("x" * self.number)
        self.touched[path] = None

    @rule(path=PATHS)
    def remove(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.touched[path] = None

    @rule(source=PATHS, destination=PATHS)
    def move(self, source: str, destination: str) -> None:
        if (self.root / source).exists() and (self.root / destination).parent.exists():
            (self.root / source).rename(self.root / destination)
            self.touched |= {source: None, destination: None}

    @rule(source=FOLDERS, destination=FOLDERS)
    def move_folder(self, source: str, destination: str) -> None:
        old, new = self.root / source, self.root / destination
        if old.exists() and new.parent.exists() and not new.exists() and not new.is_relative_to(old):
            old.rename(new)
            self.touched |= {source: None, destination: None}

    @rule(backwards=st.booleans())
    def look(self, backwards: bool) -> None:
        before = dict(self.believed)
        paths = list(self.touched)
        seen, _ = self.sight.look(paths[::-1] if backwards else paths)
        self.touched.clear()
        gone = set()
        for one in seen:
            # A file that was there is modified or deleted, one that was not is created.
            assert (one.relative in before) == (one.kind != "created")
            if one.source is not None:
                assert one.source in before
                assert one.source not in gone
                gone.add(one.source)
                del self.believed[one.source]
            if one.kind == "deleted":
                del self.believed[one.relative]
            else:
                self.believed[one.relative] = (self.root / one.relative).read_text()
                if one.source is not None:
                    assert self.believed[one.relative] == before[one.source]
        assert len({one.relative for one in seen}) == len(seen), "a path was told twice"
        assert self.believed == self.there()
        assert self.sight.everything() == []


TestDisk = Disk.TestCase
TestDisk.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_a_name_that_was_used_again_is_no_move(tmp_path: Path) -> None:
    # File systems give the inode of a deleted file to the next one.
    (tmp_path / "a.md").write_text("one")
    sight = Sight(str(tmp_path), Root.at(str(tmp_path)), walk(str(tmp_path)).notes)
    (tmp_path / "a.md").unlink()
    (tmp_path / "b.md").write_text("another")
    os.utime(tmp_path / "b.md", (1, 1))

    seen, _ = sight.look(["a.md", "b.md"])

    assert [(one.kind, one.relative, one.source) for one in seen] == [("deleted", "a.md", None), ("created", "b.md", None)]
