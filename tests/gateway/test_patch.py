"""The patch language: every path that a patch touches becomes a call of ours, and what can be read in two ways is refused."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.gateway.codec import PayloadInvalid
from treblehook.gateway.patch import FileChange, calls_of, changes_in
from treblehook.lifecycle import ToolCall

KINDS: tuple[Literal["add", "delete", "update"], ...] = ("add", "delete", "update")
PATH = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
LINE = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=20)


@st.composite
def changes(draw: st.DrawFn) -> FileChange:
    kind = draw(st.sampled_from(KINDS))
    change = FileChange(kind, draw(PATH))
    if kind == "add":
        change.new = draw(st.lists(LINE, max_size=4))
    if kind == "update":
        change.moved_to = draw(st.just("") | PATH)
        change.old = draw(st.lists(LINE, max_size=4))
        change.new = draw(st.lists(LINE, min_size=1, max_size=4))
    return change


def written(change: FileChange) -> list[str]:
    if change.kind == "add":
        return [f"*** Add File: {change.path}", *(f"+{line}" for line in change.new)]
    if change.kind == "delete":
        return [f"*** Delete File: {change.path}"]
    moved = [f"*** Move to: {change.moved_to}"] if change.moved_to else []
    lines = ["@@ where it is", *(f"-{line}" for line in change.old), *(f"+{line}" for line in change.new)]
    return [f"*** Update File: {change.path}", *moved, *lines]


def patch_of(*lines: str, end: str = "\n") -> str:
    return end.join(["*** Begin Patch", *lines, "*** End Patch", ""])


def seen(patch: str) -> list[tuple[str, str, str, list[str], list[str]]]:
    return [(one.kind, one.path, one.moved_to, one.old, one.new) for one in changes_in(patch, "patch")]


@given(drawn=st.lists(changes(), min_size=1, max_size=5), end=st.sampled_from(["\n", "\r\n"]))
def test_every_change_is_found_with_its_lines(drawn: list[FileChange], end: str) -> None:
    patch = patch_of(*(line for change in drawn for line in written(change)), end=end)
    assert seen(patch) == [(one.kind, one.path, one.moved_to, one.old, one.new) for one in drawn]


@given(drawn=st.lists(changes(), min_size=1, max_size=5))
def test_every_path_is_judged_as_a_write_or_an_edit(drawn: list[FileChange]) -> None:
    calls = calls_of(patch_of(*(line for change in drawn for line in written(change))), "id", "patch")
    assert [call.input["path"] for call in calls] == [path for one in drawn for path in (one.path, one.moved_to) if path]
    assert {call.name for call in calls} <= {"write", "edit"}
    assert calls[0].id == "id"
    assert len({call.id for call in calls}) == len(calls)


@given(drawn=st.lists(changes(), min_size=1, max_size=3), data=st.data())
def test_a_path_is_found_or_the_patch_is_refused_whatever_is_done_to_it(drawn: list[FileChange], data: st.DataObject) -> None:
    """Codex takes every line, white space at its ends aside, that begins with a header for one, except where a sign stands before it."""
    lines = [line for change in drawn for line in written(change)]
    noise = st.sampled_from(["", " ", "\t", "*** End of File", "@@", "*** Move to: m", "*** End Patch", "*** Environment ID: e"])
    header = st.builds("{}*** {} File: {}".format, st.sampled_from(["", " ", "+", "-"]), st.sampled_from(["Add", "Delete", "Update"]), PATH)
    for _ in range(data.draw(st.integers(1, 3))):
        lines.insert(data.draw(st.integers(0, len(lines))), data.draw(noise | header | LINE))
    try:
        found = [change.path for change in changes_in(patch_of(*lines), "patch")]
    except PayloadInvalid:
        return
    assert found == [
        line.strip().split("File: ", 1)[1] for line in lines if line.strip().startswith(("*** Add ", "*** Delete ", "*** Update "))
    ]


@given(text=st.text())
def test_a_text_that_is_no_patch_is_refused(text: str) -> None:
    with pytest.raises(PayloadInvalid):
        changes_in(text, "patch")


def test_context_stands_in_both_texts_and_places_are_joined() -> None:
    patch = patch_of("*** Update File: a", "@@ class A", " same", "-old", "+new", "@@", "", "+end", "*** End of File")
    assert calls_of(patch, "id", "patch") == (ToolCall("id", "edit", {"path": "a", "old": "same\nold\n", "new": "same\nnew\n\nend"}),)


def test_the_first_place_needs_no_mark() -> None:
    assert seen(patch_of("*** Update File: a", "-old", "+new")) == [("update", "a", "", ["old"], ["new"])]


def test_a_file_that_is_added_empty_and_one_that_only_moves() -> None:
    calls = calls_of(patch_of("*** Add File: a", "*** Update File: b", "*** Move to: c"), "id", "patch")
    assert [(call.name, call.input["path"]) for call in calls] == [("write", "a"), ("edit", "b"), ("write", "c")]


def test_white_space_around_begin_and_end_is_let_be() -> None:
    assert seen("\n *** Begin Patch \n*** Delete File: a\n *** End Patch \n\n") == [("delete", "a", "", [], [])]


def test_the_environment_stands_first() -> None:
    assert seen(patch_of("*** Environment ID: box", "*** Delete File: a")) == [("delete", "a", "", [], [])]


def test_a_marker_as_text_of_a_file_is_text() -> None:
    assert seen(patch_of("*** Add File: a", "+*** Delete File: b")) == [("add", "a", "", [], ["*** Delete File: b"])]


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ([], 2),
        (["*** Update File: a"], 3),
        (["*** Update File: a", "@@"], 4),
        (["*** Update File: a", "*** Delete File: b"], 3),
        (["*** Add File: "], 2),
        (["*** Add File:a"], 2),
        (["*** Add File:  a"], 2),
        (["*** Add File: a "], 2),
        (["*** Add File: a\0"], 2),
        (["*** Add File: a\x1fb"], 2),
        (["*** add file: a"], 2),
        ([" *** Add File: a"], 2),
        (["*** Add File: a", "text"], 3),
        (["*** Add File: a", ""], 3),
        (["*** Add File: a", " *** Delete File: b"], 3),
        (["*** Update File: a", "-x", " *** Delete File: b"], 4),
        (["*** Update File: a", "-x", "*** Move to: b"], 4),
        (["*** Update File: a", "-x", "*** Rename File: b"], 4),
        (["*** Delete File: a", "+x"], 3),
        (["*** Delete File: a", "*** Move to: b"], 3),
        (["*** Delete File: a", "*** End Patch", "*** Delete File: b"], 3),
        (["*** Delete File: a", "*** Environment ID: b"], 3),
        (["+x"], 2),
    ],
)
def test_what_is_not_understood_is_refused_at_its_line(lines: list[str], line: int) -> None:
    with pytest.raises(PayloadInvalid) as invalid:
        changes_in(patch_of(*lines), "tool_input.command")
    assert invalid.value.place == f"tool_input.command, line {line}"


def test_a_line_that_is_refused_is_shown_in_part() -> None:
    with pytest.raises(PayloadInvalid) as invalid:
        changes_in(patch_of("*" * 100_000), "patch")
    assert len(str(invalid.value)) < 300
