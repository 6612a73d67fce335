"""The tool `edit`: one piece of text that occurs once."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from treblehook.host.tool import ToolInputInvalid, ToolOutput
from treblehook.host.tools import edit as edit_module
from treblehook.host.tools.edit import Edit

Run = Callable[..., Awaitable[ToolOutput]]


@pytest.fixture
def edit(run: Run, workspace: Path) -> Run:
    """Edit a file that holds `before`; gives the output and what the file holds then."""

    async def edit(before: bytes, old: str, new: str) -> tuple[ToolOutput, bytes]:
        path = workspace / "file"
        path.write_bytes(before)
        output = await run(Edit(), path="file", old=old, new=new)
        return output, path.read_bytes()

    return edit


async def test_the_one_place_is_replaced(edit: Run) -> None:
    output, after = await edit(b"one\ntwo\nthree\n", "two\nth", "2\n\n")

    assert output.content == "Replaced the text in line 2 of file."
    assert after == b"one\n2\n\nree\n"


async def test_an_empty_new_removes(edit: Run) -> None:
    _, after = await edit(b"keep drop keep", " drop", "")

    assert after == b"keep keep"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "1\n2", b"a\r\n1\r\n2\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "c\r\nd", b"c\r\nd\r\n"),
        (b"a\nb\n", "b", "c\r\nd", b"a\nc\r\nd\n"),
        (b"a\r\nb\nc\n", "b\nc", "x\ny", b"a\r\nx\ny\n"),
        (b"a\rb", "b", "c", b"a\rc"),
        ("\ufeffäb".encode(), "b", "ö", "\ufeffäö".encode()),
        ("äb\r\nc".encode("utf-16"), "b\nc", "ö", "äö".encode("utf-16")),
        (b"\xfe\xff" + "ab".encode("utf-16-be"), "b", "c", b"\xfe\xff" + "ac".encode("utf-16-be")),
        (b"caf\xe9 one\xff", "one", "zwölf", b"caf\xe9 " + "zwölf".encode() + b"\xff"),
        (b"no end of line", "line", "text", b"no end of text"),
    ],
)
async def test_line_ends_encoding_and_stray_bytes_stay(before: bytes, old: str, new: str, after: bytes, edit: Run) -> None:
    output, found = await edit(before, old, new)

    assert not output.is_error
    assert found == after


async def test_a_text_that_occurs_several_times_changes_nothing(edit: Run) -> None:
    before = b"x = 1\n\nx = 1\nx = 1 x = 1\n"
    output, after = await edit(before, "x = 1", "y")

    assert output.is_error
    assert output.content.startswith("`old` occurs 4 times in file (lines 1, 3, 4, 4); nothing was changed.")
    assert after == before


async def test_occurrences_that_overlap_are_several(edit: Run) -> None:
    output, after = await edit(b"aXaXa", "aXa", "-")

    assert "occurs 2 times" in output.content
    assert after == b"aXaXa"


async def test_only_ten_of_many_places_are_named(edit: Run) -> None:
    output, _ = await edit(b"a\n" * 1000, "a", "b")

    assert "occurs 1000 times in file (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)" in output.content


async def test_a_text_that_differs_in_blanks_is_shown(edit: Run) -> None:
    output, _ = await edit(b"def f():\n\treturn 1  \n\nend\n", "def f():\n    return 1\n", "x")

    assert output.is_error
    assert output.content == (
        "`old` does not occur in file; nothing was changed. Lines 1 to 2 differ only in blanks at the beginning or end of lines:\n"
        "def f():\n\treturn 1  "
    )


async def test_the_most_alike_line_is_named(edit: Run) -> None:
    output, _ = await edit(b"import os\n\ndef load_everything(path):\n    pass\n", "def load_everthing(path):\n  return", "x")

    assert output.content == "`old` does not occur in file; nothing was changed. The nearest is line 3: def load_everything(path):"


@pytest.mark.parametrize("old", ["zzzzz", "\n\n\n\n", "q" * 5000])
async def test_where_nothing_is_alike_nothing_is_named(old: str, edit: Run) -> None:
    output, _ = await edit(b"import os\n", old, "x")

    assert output.content == "`old` does not occur in file; nothing was changed."


async def test_the_same_text_twice_is_no_edit(edit: Run) -> None:
    output, _ = await edit(b"a", "a", "a")

    assert output.is_error
    assert output.content == "`old` and `new` are the same; nothing was changed."


async def test_mode_and_link_stay(run: Run, workspace: Path) -> None:
    real = workspace / "real"
    real.write_text("a")
    os.chmod(real, 0o755)
    (workspace / "link").symlink_to(real)

    await run(Edit(), path="link", old="a", new="b")

    assert (workspace / "link").is_symlink()
    assert real.read_text() == "b"
    assert os.stat(real).st_mode & 0o777 == 0o755


async def test_a_binary_file_is_left_alone(edit: Run) -> None:
    output, after = await edit(b"a\0b", "a", "c")

    assert output.content == "file is a binary file; it cannot be edited as text."
    assert after == b"a\0b"


async def test_broken_utf_16_is_left_alone(edit: Run) -> None:
    output, _ = await edit("ab".encode("utf-16-le").join([b"\xff\xfe", b"\x00"]), "a", "c")

    assert output.is_error
    assert output.content == "file begins as utf-16-le text but is not: truncated data at byte 6."


async def test_a_file_that_is_too_long(edit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_module, "MAX_BYTES", 10)

    output, _ = await edit(b"x" * 11, "a", "c")

    assert output.content == "file is longer than 10 bytes; edit it with a command."


async def test_a_missing_file_and_a_folder(run: Run, workspace: Path) -> None:
    (workspace / "folder").mkdir()

    missing = await run(Edit(), path="missing", old="a", new="b")
    folder = await run(Edit(), path="folder", old="a", new="b")

    assert missing.content == "Cannot edit missing: No such file or directory."
    assert folder.content.startswith("folder is a folder.")
    assert missing.is_error
    assert folder.is_error


async def test_an_empty_old_is_refused(run: Run) -> None:
    with pytest.raises(ToolInputInvalid, match="`old`: found ''; allowed: text, not empty"):
        await run(Edit(), path="file", old="", new="b")
