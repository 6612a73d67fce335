"""The tools by which a model reaches notes."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.kiln_rig import NAME, KilnRig
from treblehook.host.notes import Notes
from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput
from treblehook.kiln.tools import builtin_note_tools

CONTEXT = ToolContext(Path("/"), "s1", "c1", {}, lambda text: None)


async def call(notes: Notes, name: str, *kilns: str, **arguments: Any) -> ToolOutput:
    [tool] = [tool for tool in builtin_note_tools(notes, kilns or (NAME,)) if tool.spec.name == name]
    return await tool.run(arguments, CONTEXT)


async def test_there_are_four_of_which_two_ask(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        specs = [tool.spec for tool in builtin_note_tools(kilns, kilns.kilns)]
        assert builtin_note_tools(kilns, ()) == []

    assert [(spec.name, spec.asks, spec.main_argument) for spec in specs] == [
        ("note_search", False, "query"),
        ("note_read", False, "path"),
        ("note_write", True, "path"),
        ("note_rename", True, "path"),
    ]
    assert all("kilns: notes" in spec.description for spec in specs)


async def test_a_note_is_written_found_read_and_renamed(rig: KilnRig) -> None:
    rig.write("b.md", "[[a]]")
    async with rig.indexed() as kilns:
        assert (await call(kilns, "note_write", path="a.md", content="# Anchor #ship\ncutlass")).content == "Created a.md."
        assert (await call(kilns, "note_write", path="a.md", content="# Anchor #ship\ncutlasses")).content == "Replaced a.md."
        same = await call(kilns, "note_write", path="a.md", content="# Anchor #ship\ncutlasses")
        assert same.content == "Nothing to do, this is the text already: a.md."
        found = await call(kilns, "note_search", query="cutlass")
        assert found.content == "notes: a.md\nAnchor #ship  #ship\n# Anchor #ship cutlasses"
        assert (await call(kilns, "note_read", path="a.md")).content == "# Anchor #ship\ncutlasses"
        moved = await call(kilns, "note_rename", path="a.md", destination="Sea/c.md")
        assert moved.content == "a.md is now Sea/c.md. Links were repointed in: b.md."
        assert (await call(kilns, "note_rename", path="b.md", destination="d.md")).content == "b.md is now d.md. No other note links to it."


async def test_what_cannot_be_done_is_an_error_that_says_why(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:
        for name, arguments in (
            ("note_read", {"path": "a.md"}),
            ("note_write", {"path": "../a.md", "content": ""}),
            ("note_rename", {"path": "a.md", "destination": "b.md"}),
        ):
            output = await call(kilns, name, **arguments)
            assert output.is_error
            assert output.content.startswith("notes: ")
        assert (await call(kilns, "note_search", query="nothing")).content == "No note was found."


async def test_an_empty_note_is_told_as_that(rig: KilnRig) -> None:
    rig.write("a.md", "")
    async with rig.indexed() as kilns:
        assert (await call(kilns, "note_read", path="a.md")).content == "[a.md is empty.]"


async def test_only_the_kilns_of_the_session_are_in_reach(rig: KilnRig, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("secret reef")
    rig.write("a.md", "open reef")
    async with rig.kilns(other=other) as kilns:
        await kilns.open(watch=False)
        for name in kilns.kilns:
            await kilns.index(name)
        assert "secret" not in (await call(kilns, "note_search", query="reef")).content
        assert (await call(kilns, "note_read", path="a.md")).content == "open reef"
        with pytest.raises(ToolInputInvalid, match="`kiln`: found 'other'; allowed: notes"):
            await call(kilns, "note_read", path="a.md", kiln="other")
        both = (NAME, "other")
        with pytest.raises(ToolInputInvalid, match="`kiln`: it is missing; allowed: notes, other"):
            await call(kilns, "note_read", *both, path="a.md")
        assert (await call(kilns, "note_read", *both, path="a.md", kiln="other")).content == "secret reef"
        assert (await call(kilns, "note_search", *both, query="reef")).content.count("reef") == 2
