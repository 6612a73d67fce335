"""Search by words and by meaning; and that no query is an error."""

from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.kiln_rig import NAME, KilnRig, note
from tests.support.notes import write_notes
from treblehook.host.notes import NoteId
from treblehook.kiln.index.index import NoteIndex
from treblehook.kiln.index.search import by_words
from treblehook.kiln.indexing.full_pass import FullPass
from treblehook.kiln.semantic import Vectors, open_embedder


class Letters:
    """Texts that have the same letters mean the same."""

    dimensions = 26

    def __init__(self, name: str = "letters") -> None:
        self.name = name
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - ord("a")] += 1
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
        return numpy.divide(rows, lengths, out=rows, where=lengths > 0)


async def found(rig: KilnRig, query: str, **options: int) -> list[str]:
    async with rig.indexed() as kilns:
        return [hit.id.path for hit in await kilns.search(query, **options)]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("treasure", ["map.md"]),
        ("TREASURE map", ["map.md"]),
        ("trea", ["map.md"]),
        ("trea*", ["map.md"]),
        ("uberfahrt", ["über.md"]),
        ("Überfahrt", ["über.md"]),
        ("cafe", ["über.md"]),
        ('"buried chest"', ["map.md"]),
        ('"chest buried"', []),
        ('"unclosed phrase', []),
        ("寶藏", ["地図.md"]),
        ("anchor rope", ["both.md", "anchor.md", "rope.md"]),
        ("harbour", ["tagged.md"]),
        ("Bosun", ["front.md"]),
        ("nothing-like-this", []),
        ("", []),
        ("   ", []),
        ('"', []),
        ('""', []),
        ("AND OR NOT NEAR", []),
        ("title:treasure", []),
        ("+++ --- *** ((( ^^^ {}", []),
        ("c++ treasure", ["map.md"]),
    ],
)
async def test_words_find_notes(rig: KilnRig, query: str, paths: list[str]) -> None:
    rig.write("map.md", "# Map\nThe buried chest holds a treasure of c++.")
    rig.write("über.md", "Eine Überfahrt ins Café")
    rig.write("地図.md", "寶藏 地図")
    rig.write("both.md", "the anchor hangs on a rope")
    rig.write("anchor.md", "# Anchor\nanchor anchor")
    rig.write("rope.md", "there is a long rope here, with more words than that to say about it")
    rig.write("tagged.md", "#harbour")
    rig.write("front.md", "---\nauthor: Bosun\n---\nx")

    assert await found(rig, query) == paths


async def test_the_title_counts_more_than_the_text(rig: KilnRig) -> None:
    rig.write("a.md", "# Other\nreef")
    rig.write("b.md", "# Reef\nother")
    assert await found(rig, "reef") == ["b.md", "a.md"]


async def test_what_is_found_has_a_score_a_title_tags_and_a_piece_of_text(rig: KilnRig) -> None:
    rig.write("a.md", "# Anchor\n" + "words " * 100 + "the cutlass is here #sharp " + "words " * 100)
    async with rig.indexed() as kilns:
        [hit] = await kilns.search("cutlass")

    assert (hit.id, hit.title, hit.tags, hit.score) == (note("a.md"), "Anchor", ("sharp",), 1.0)
    assert "cutlass is here" in hit.snippet
    assert len(hit.snippet) < 300


async def test_the_limit_is_kept_and_equals_come_by_path(rig: KilnRig) -> None:
    for name in "dbca":
        rig.write(f"{name}.md", "same")
    assert await found(rig, "same", limit=3) == ["a.md", "b.md", "c.md"]
    assert await found(rig, "same", limit=0) == []


async def test_kilns_are_searched_together_or_some_of_them(rig: KilnRig, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("reef reef")
    rig.write("a.md", "reef")
    async with rig.kilns(other=other) as kilns:
        await kilns.open(watch=False)
        for name in kilns.kilns:
            await kilns.index(name)
        both = {NoteId(NAME, "a.md"), NoteId("other", "b.md")}
        assert {hit.id for hit in await kilns.search("reef")} == both
        assert {hit.id for hit in await kilns.search("reef", kilns=["other"])} == {NoteId("other", "b.md")}
        assert await kilns.search("reef", kilns=[]) == []
        assert len(await kilns.retrieve("reef", limit=1)) == 1


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> NoteIndex:
    root = tmp_path_factory.mktemp("kiln")
    write_notes(root, 200)
    made = NoteIndex(NAME, tmp_path_factory.mktemp("store") / "notes.sqlite3", str(root))
    full = FullPass(made, str(root), force=False)
    full.look()
    full.step()
    return made


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text() | st.text(st.sampled_from("ab \"'*()^:+-{}\0\\NEAROTD寶é,/.;\n\ud800")))
def test_no_query_is_an_error(index: NoteIndex, query: str) -> None:
    assert len(by_words(index.database, query, 5)) <= 5


async def test_meaning_finds_what_words_do_not(rig: KilnRig) -> None:
    rig.embedder = Letters
    rig.write("a.md", "silent")
    rig.write("b.md", "zzz")
    async with rig.indexed() as kilns:
        assert await kilns.search("listen") == []
        await kilns.embed(NAME)
        assert [hit.id.path for hit in await kilns.search("listen")] == ["a.md"]


async def test_what_words_and_meaning_find_comes_first(rig: KilnRig) -> None:
    rig.embedder = Letters
    rig.write("words.md", "listen " + "xyzzy quux " * 50)
    rig.write("meaning.md", "silent")
    rig.write("both.md", "listen")
    async with rig.indexed() as kilns:
        await kilns.embed(NAME)
        hits = await kilns.search("listen")
    assert hits[0].id.path == "both.md"
    assert {hit.id.path for hit in hits} == {"both.md", "words.md", "meaning.md"}
    assert all(0 < hit.score <= 1 for hit in hits)


async def test_precognition_gets_the_nearest_of_all_kilns_with_the_head_of_their_text(rig: KilnRig, tmp_path: Path) -> None:
    rig.embedder = Letters
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("listen")
    rig.write("a.md", "---\ntitle: Silent\n---\n" + "silent " * 200)
    rig.write("b.md", "zzz")
    async with rig.kilns(other=other) as kilns:
        await kilns.open(watch=False)
        for name in kilns.kilns:
            await kilns.index(name)
            await kilns.embed(name)
        hits = await kilns.retrieve("listen", limit=5)
    assert [hit.id.path for hit in hits][2] == "b.md", "there is no least score"
    assert {hit.id.path for hit in hits[:2]} == {"a.md", "c.md"}
    head = next(hit.snippet for hit in hits if hit.id.path == "a.md")
    assert head == rig.text("a.md")[:500]
    assert all(0 <= hit.score <= 1 for hit in hits)


async def test_precognition_without_meanings_goes_by_words(rig: KilnRig) -> None:
    rig.write("a.md", "the chart of the reef")
    async with rig.indexed() as kilns:
        [hit] = await kilns.retrieve("where is the chart?")
    assert (hit.id.path, hit.snippet) == ("a.md", "the chart of the reef")


async def test_vectors_follow_the_notes_and_only_new_ones_are_made(rig: KilnRig) -> None:
    letters = Letters()
    rig.embedder = lambda: letters
    rig.write("a.md", "silent")
    rig.write("b.md", "zzz")
    async with rig.watched() as kilns:
        await rig.until(lambda: len(letters.embedded) == 2)
        assert [hit.id.path for hit in await kilns.retrieve("listen", limit=1)] == ["a.md"]
        rig.write("a.md", "qqq")
        await kilns.write(note("c.md"), "enlist")
        await rig.until(lambda: letters.embedded[-1].endswith(("qqq", "enlist")) and len(letters.embedded) >= 5)
        await kilns.embed(NAME)
        assert [hit.id.path for hit in await kilns.retrieve("listen", limit=1)] == ["c.md"]
        await kilns.delete(note("c.md"))
        assert "c.md" not in [hit.id.path for hit in await kilns.retrieve("listen", limit=5)]
        await kilns.rename(note("b.md"), "d.md")
        await kilns.embed(NAME)
        assert [hit.id.path for hit in await kilns.retrieve("zz", limit=1)] == ["d.md"]
    before = len(letters.embedded)
    async with rig.indexed() as kilns:
        await kilns.embed(NAME)
        assert len(letters.embedded) == before


async def test_another_embedder_makes_its_own_vectors(rig: KilnRig) -> None:
    rig.write("a.md", "silent")
    for name in ("one", "two"):
        letters = Letters(name)
        rig.embedder = lambda letters=letters: letters  # type: ignore[misc]
        async with rig.indexed() as kilns:
            await kilns.embed(NAME)
        assert letters.embedded == ["a\nsilent"]


async def test_the_real_embedder_finds_by_meaning(rig: KilnRig) -> None:
    rig.embedder = open_embedder
    rig.write("bread.md", "Baking sourdough bread in a cast iron pot")
    rig.write("tax.md", "Quarterly taxes and invoices")
    async with rig.indexed() as kilns:
        await kilns.embed(NAME)
        assert (await kilns.search("how do I make a loaf with yeast"))[0].id.path == "bread.md"
        assert [hit.id.path for hit in await kilns.retrieve("loaf of yeast", limit=1)] == ["bread.md"]
        assert await kilns.search("zzqqx") == []


async def test_an_embedder_that_breaks_is_told(rig: KilnRig) -> None:
    class Broken(Letters):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise RuntimeError("no more")

    rig.write("a.md", "anchor")
    rig.embedder = Broken
    async with rig.watched():
        await rig.until(lambda: bool(rig.problems))
    assert rig.problems[0].message == "kiln notes: the search by meaning has stopped: RuntimeError: no more"
