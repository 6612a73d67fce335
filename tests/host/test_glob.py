"""The tool `glob`: patterns, order, limits, and folders that lead astray."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from fnmatch import translate
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.host.tool import ToolContext, ToolInputInvalid, ToolOutput
from treblehook.host.tools import glob as glob_module
from treblehook.host.tools.glob import Glob
from treblehook.host.tools.walk import alternatives, matches

Run = Callable[..., Awaitable[ToolOutput]]

TREE = (
    "README.md",
    ".hidden",
    "src/a.py",
    "src/b.ts",
    "src/deep/er/c.py",
    "src/deep/d.tsx",
    "src/deep/.e.py",
    "test/a_test.py",
    ".git/config.py",
    "sub/.git/hooks/x.py",
)


@pytest.fixture
def tree(workspace: Path) -> Path:
    for name in TREE:
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        # Of equal age, so that the order is the one of the alphabet.
        os.utime(path, (1_000_000, 1_000_000))
    for path in workspace.rglob("*"):
        os.utime(path, (1_000_000, 1_000_000))
    return workspace


@pytest.fixture
def glob(run: Run) -> Callable[..., Awaitable[list[str]]]:
    async def glob(pattern: str, **more: object) -> list[str]:
        output = await run(Glob(), pattern=pattern, **more)
        assert not output.is_error
        return [] if output.content == "[Nothing matches.]" else output.content.split("\n")

    return glob


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", [".hidden", "README.md", "src/", "sub/", "test/"]),
        ("*.md", ["README.md"]),
        ("src/*.py", ["src/a.py"]),
        ("**/*.py", ["src/a.py", "src/deep/.e.py", "src/deep/er/c.py", "test/a_test.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/.e.py", "src/deep/er/c.py"]),
        ("src/**/*.{ts,tsx}", ["src/b.ts", "src/deep/d.tsx"]),
        ("{src,test}/*.py", ["src/a.py", "test/a_test.py"]),
        ("{s{rc,ub},test}/a*", ["src/a.py", "test/a_test.py"]),
        ("src/deep/**", ["src/deep/.e.py", "src/deep/d.tsx", "src/deep/er/", "src/deep/er/c.py"]),
        ("**/deep/**/*.py", ["src/deep/.e.py", "src/deep/er/c.py"]),
        ("**/**/c.py", ["src/deep/er/c.py"]),
        ("**/er/", ["src/deep/er/"]),
        ("?rc/[ab].*", ["src/a.py", "src/b.ts"]),
        ("src/[!a].*", ["src/b.ts"]),
        ("README.md", ["README.md"]),
        ("./src/../test/*", ["test/a_test.py"]),
        ("src/a.py/*", []),
        ("nowhere/**", []),
        ("*.PY", []),
        ("*/.git/**", []),
        (".git/*", [".git/config.py"]),
    ],
)
async def test_patterns(pattern: str, found: list[str], tree: Path, glob: Callable[..., Awaitable[list[str]]]) -> None:
    assert await glob(pattern) == found


async def test_where_the_pattern_starts(tree: Path, glob: Callable[..., Awaitable[list[str]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree / "src"))

    assert await glob("*.py", path="src") == ["src/a.py"]
    assert await glob("*.py", path=str(tree / "src")) == ["src/a.py"]
    assert await glob("*.py", path="~") == ["src/a.py"]
    assert await glob("~/*.py", path="test") == ["src/a.py"]
    assert await glob(f"{tree}/src/*.py", path="test") == ["src/a.py"]
    assert await glob(f"{tree.parent}/work*/*.md") == ["README.md"]


async def test_the_newest_come_first(tree: Path, glob: Callable[..., Awaitable[list[str]]]) -> None:
    os.utime(tree / "test/a_test.py", (3_000_000, 3_000_000))
    os.utime(tree / "src/deep/er/c.py", (2_000_000, 2_000_000))

    assert await glob("**/*.py") == ["test/a_test.py", "src/deep/er/c.py", "src/a.py", "src/deep/.e.py"]


async def test_a_thousand_are_shown(workspace: Path, glob: Callable[..., Awaitable[list[str]]]) -> None:
    for number in range(1001):
        (workspace / f"{number:04}").write_text("")
    os.utime(workspace / "0500", (1, 1))

    rows = await glob("*")

    assert len(rows) == 1001
    assert "0500" not in rows
    assert rows[-1] == "[These are the newest 1000 of 1001; a narrower pattern or path shows the others.]"


async def test_there_is_an_end_to_collecting(
    tree: Path, glob: Callable[..., Awaitable[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glob_module, "COLLECTED", 3)
    monkeypatch.setattr(glob_module, "SHOWN", 2)

    *rows, remark = await glob("*")

    assert len(rows) == 2
    assert remark.startswith("[These are the newest 2 of more than 3;")


async def test_links_in_a_circle_end(tree: Path, glob: Callable[..., Awaitable[list[str]]]) -> None:
    (tree / "src/up").symlink_to("..")
    (tree / "self").symlink_to("self")
    (tree / "gone").symlink_to("nowhere")

    assert await glob("**/a.py") == ["src/a.py"]
    assert await glob("s*/u*/s*/a.py") == ["src/up/src/a.py"]


async def test_a_link_to_a_folder_is_entered_by_its_name(tree: Path, glob: Callable[..., Awaitable[list[str]]]) -> None:
    (tree / "link").symlink_to("src")

    assert await glob("l*/*.py") == ["link/a.py"]
    assert await glob("link/*.py") == ["link/a.py"]
    assert await glob("**/b.ts") == ["src/b.ts"]


async def test_a_name_that_is_no_text(tree: Path, glob: Callable[..., Awaitable[list[str]]]) -> None:
    os.mkdir(os.fsencode(tree) + b"/bad\xff")

    assert await glob("bad*") == ["bad\ufffd/"]


async def test_very_deep_folders(deep: str, glob: Callable[..., Awaitable[list[str]]]) -> None:
    rows = await glob("**/d")

    assert len(rows) == 1001


async def test_a_pattern_of_many_stars_takes_no_time(workspace: Path, glob: Callable[..., Awaitable[list[str]]]) -> None:
    (workspace / ("a" * 250)).write_text("")

    assert await glob("*a" * 60 + "b") == []
    assert await glob("/".join(["**"] * 200) + "/*b") == []


@pytest.mark.parametrize("path", ["missing", "README.md"])
async def test_a_path_that_is_no_folder(path: str, tree: Path, run: Run) -> None:
    output = await run(Glob(), pattern="*", path=path)

    assert output.is_error
    assert output.content == f"{path} is no folder."


async def test_a_deleted_workspace(workspace: Path, run: Run) -> None:
    shutil.rmtree(workspace)

    output = await run(Glob(), pattern="*")

    assert output.is_error
    assert "does not exist any more" in output.content


async def test_braces_that_explode_are_refused(run: Run) -> None:
    with pytest.raises(ToolInputInvalid, match="its braces stand for more than 100 patterns"):
        await run(Glob(), pattern="{a,b}" * 30)


async def test_a_search_that_nobody_waits_for_stops(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    started, stopped = Event(), Event()

    def endless(root: str, pattern: str, given_up: Event) -> list[os.DirEntry[str]]:
        started.set()
        given_up.wait()
        stopped.set()
        return []

    monkeypatch.setattr(glob_module, "matches", endless)
    task = asyncio.create_task(Glob().run({"pattern": "*"}, context))
    await asyncio.to_thread(started.wait)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await asyncio.to_thread(stopped.wait)


@pytest.fixture(scope="module")
def small_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name in ("a/b/c", "a/bb/c", "b/a/b/ab", "ab", "c/.a"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return root


@given(pattern=st.lists(st.sampled_from(["*", "**", "a", "b", "?", "a*", "*b", "[ab]", ".*"]), min_size=1, max_size=5))
def test_matches_are_what_the_pattern_says_of_every_path(pattern: list[str], small_tree: Path) -> None:
    """Against the plain reading: each `**` is any number of whole names, every other word one name."""
    import re

    expression = "".join("(?:[^/]+/)*" if word == "**" else _one_name(word) + "/" for word in pattern)
    every = [str(path.relative_to(small_tree)) for path in small_tree.rglob("*")]
    expected = sorted(path for path in every if re.fullmatch(expression, path + "/"))

    found = sorted(os.path.relpath(entry.path, small_tree) for entry in matches(str(small_tree), "/".join(pattern), Event()))

    assert found == expected


def _one_name(word: str) -> str:
    # None of the names has more than two letters and a dot.
    return translate(word).removesuffix(r")\Z").removeprefix("(?s:").replace(".*", "[^/]*").replace("(?<!/)", "") if word != "?" else "[^/]"


def test_braces_without_a_comma_are_plain() -> None:
    assert alternatives("a{b}c", 10) == ["a{b}c"]
    assert alternatives("a{,b}", 10) is not None
    assert sorted(alternatives("a{,b}", 10) or []) == ["a", "ab"]
