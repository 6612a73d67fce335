"""`cru.kiln` and `cru.graph`, over a small store of notes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.crucible.library.conftest import Rig
from treblehook.host.notes import FoundNote, NoteId, NoteInfo, NoteProblem, Written


class Folder:
    """Notes in a folder per kiln, without an index."""

    def __init__(self, root: Path, *kilns: str) -> None:
        self.root = root
        self.kilns = kilns

    def _file(self, note: NoteId) -> Path:
        if note.kiln not in self.kilns:
            raise NoteProblem(f"no kiln is called {note.kiln}")
        return self.root / note.kiln / note.path

    async def search(self, query: str, *, kilns: Sequence[str] | None = None, limit: int = 10) -> list[FoundNote]:
        found = [note.id for note in await self.listed(kilns=kilns) if query in self._file(note.id).read_text()]
        return [FoundNote(note, note.path, 0.5, query, ("t",)) for note in found[:limit]]

    async def retrieve(self, message: str, *, kilns: Sequence[str] | None = None, limit: int = 5) -> list[FoundNote]:
        return await self.search(message, kilns=kilns, limit=limit)

    async def read(self, note: NoteId) -> str:
        try:
            return self._file(note).read_text()
        except FileNotFoundError:
            raise NoteProblem(f"{note.kiln}: there is no note {note.path}") from None

    async def listed(self, *, kilns: Sequence[str] | None = None, folder: str = "") -> list[NoteInfo]:
        names = self.kilns if kilns is None else kilns
        ids = [NoteId(name, str(file.relative_to(self.root / name))) for name in names for file in sorted((self.root / name).rglob("*.md"))]
        return [NoteInfo(note, note.path, ("t",), ("b",), 1.5) for note in ids if note.path.startswith(folder)]

    async def info(self, note: NoteId) -> NoteInfo | None:
        return next((found for found in await self.listed() if found.id == note), None)

    async def backlinks(self, note: NoteId) -> list[NoteId]:
        return [found.id for found in await self.search(f"[[{note.path.removesuffix('.md')}]]")]

    async def write(self, note: NoteId, text: str) -> Written:
        file = self._file(note)
        before = file.read_text() if file.exists() else None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return "created" if before is None else "unchanged" if before == text else "modified"

    async def delete(self, note: NoteId) -> bool:
        existed = self._file(note).exists()
        self._file(note).unlink(missing_ok=True)
        return existed

    async def rename(self, note: NoteId, destination: str) -> list[NoteId]:
        self._file(note).rename(self._file(NoteId(note.kiln, destination)))
        return await self.backlinks(note)


@pytest.fixture
async def kiln(rig: Rig, tmp_path: Path) -> Any:
    kiln = rig.with_services(notes=Folder(tmp_path / "kilns", "notes"))
    await kiln.run("cru.kiln.write('a.md', 'see [[b]]'); cru.kiln.write('b.md', 'treasure')")
    yield kiln
    await kiln.close()


async def test_notes_are_found_read_and_listed(kiln: Rig) -> None:
    found, text, listed, missing = await kiln.run("""
        return cru.kiln.search('treasure', {limit = 3, kilns = {'notes'}}), cru.kiln.read('a.md'), cru.kiln.list({folder = 'b'}),
            cru.kiln.info('no.md') == nil
    """)
    assert found == [{"kiln": "notes", "path": "b.md", "title": "b.md", "score": 0.5, "snippet": "treasure", "tags": ["t"]}]
    assert text == "see [[b]]"
    assert listed == [{"kiln": "notes", "path": "b.md", "title": "b.md", "tags": ["t"], "links": ["b"], "modified": 1.5}]
    assert missing


async def test_links_in_both_directions(kiln: Rig) -> None:
    for module in ("kiln", "graph"):
        assert await kiln.run(f"return cru.{module}.links('a.md'), cru.{module}.backlinks('b.md')") == [
            ["b"],
            [{"kiln": "notes", "path": "a.md"}],
        ]


async def test_notes_are_changed(kiln: Rig) -> None:
    assert await kiln.run("""
        return cru.kiln.write('a.md', 'see [[b]]'), cru.kiln.write('a.md', 'see [[b]]!'), cru.kiln.write('c.md', ''),
            cru.kiln.rename('b.md', 'd.md'), cru.kiln.delete('d.md'), cru.kiln.delete('d.md')
    """) == ["unchanged", "modified", "created", [{"kiln": "notes", "path": "a.md"}], True, False]


async def test_with_several_kilns_one_must_be_named(rig: Rig, tmp_path: Path) -> None:
    two = rig.with_services(notes=Folder(tmp_path / "kilns", "notes", "work"))
    assert "say in which kiln with the option `kiln`; configured: notes, work" in await two.refused("local x = cru.kiln.read('a.md')")
    assert await two.run("cru.kiln.write('a.md', 'x', {kiln = 'work'}); return cru.kiln.read('a.md', {kiln = 'work'})") == "x"
    await two.close()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("cru.kiln.read('no.md')", "cru.kiln.read: notes: there is no note no.md"),
        ("cru.kiln.links('no.md')", "cru.kiln.links: notes: there is no note 'no.md'"),
        ("cru.kiln.write('a.md', '\\xff')", "not UTF-8"),
        ("cru.kiln.delete('a.md', {kiln = 'none'})", "no kiln is called none"),
    ],
)
async def test_what_cannot_be_done_raises(kiln: Rig, call: str, said: str) -> None:
    assert said in await kiln.refused(f"local x = {call}")


async def test_a_host_without_kilns_says_so(rig: Rig) -> None:
    assert "cru.kiln.list: this host has no kilns" in await rig.refused("local x = cru.kiln.list()")
