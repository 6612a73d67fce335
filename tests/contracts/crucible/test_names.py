"""The closed set of names, and the nearest one to another (crucible.md 1, 2.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.contracts.crucible.names import EVENT_NAMES, distance, nearest, unknown_event

NEAR = [
    ("pre_toolcall", "pre_tool_call", 1),
    ("pre_tool_calls", "pre_tool_call", 1),
    ("post_tool_call", "pre_tool_call", 3),
    ("tool_results", "tool_result", 1),
    ("toolresult", "tool_result", 1),
    ("turn_complete", "turn:complete", 1),
    ("note:create", "note:created", 1),
    ("Note:Created", "note:created", 2),
    ("filechanged", "FileChanged", 2),
    ("file_changed", "FileChanged", 3),
    ("note:removed", "note:renamed", 3),
    ("note:updated", "note:created", 3),
    ("webhook:recieved", "webhook:received", 2),
    ("precognition:select", "precognition_select", 1),
    ("tool:before_exec", "tool:before_execute", 3),
    ("note_created", "note:created", 1),
]
FAR = [
    ("session_start", None, 10),
    ("session:start", None, 11),
    ("webhook", None, 8),
    ("PreToolUse", None, 8),
    ("*", None, 9),
    ("", None, 9),
    ("pre_tool", None, 5),
    ("note:changed", "note:created", 4),
    ("FileRenamed", "FileDeleted", 4),
    ("llm_call", "pre_llm_call", 4),
    ("transform_ctx", "transform_context", 4),
    ("tool:display", None, 6),
    ("precognition", None, 7),
    ("on_everything_please", None, 15),
]


def test_the_set_has_nineteen_names_in_the_canonical_order() -> None:
    assert len(EVENT_NAMES) == len(set(EVENT_NAMES)) == 19
    assert EVENT_NAMES[0] == "FileChanged"
    assert EVENT_NAMES[8:10] == ("pre_tool_call", "tool_result")
    assert EVENT_NAMES[-1] == "tool:display_complete"


@pytest.mark.parametrize(("given", "closest", "away"), NEAR)
def test_a_near_name_is_told_alone(given: str, closest: str, away: int) -> None:
    assert (nearest(given), distance(given, closest)) == (closest, away)
    told = unknown_event(given)
    assert f"`{given}`" in told
    assert f"did you mean `{closest}`?" in told
    assert "transform_context" not in told


@pytest.mark.parametrize(("given", "closest", "away"), FAR)
def test_a_far_name_is_told_with_the_closest_and_all_of_them(given: str, closest: str | None, away: int) -> None:
    assert closest in (None, nearest(given))
    assert distance(given, nearest(given)) == away
    told = unknown_event(given)
    assert f"did you mean `{nearest(given)}`?" in told
    assert all(name in told for name in EVENT_NAMES)


def test_names_that_are_equally_near_are_told_in_the_canonical_order() -> None:
    assert distance("*", "FileMoved") == distance("*", "precognition_select") - 10
    assert nearest("*") == "FileMoved"
    assert nearest("x", ("ab", "cd")) == "ab"


def test_a_message_is_one_line_however_long_the_name() -> None:
    told = unknown_event("a\nb" + "x" * 100_000)
    assert "\n" not in told
    assert len(told) < 1000


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12))
def test_a_distance_is_one(one: str, other: str, third: str) -> None:
    assert distance(one, one) == 0
    assert (distance(one, other) == 0) == (one == other)
    assert distance(one, other) == distance(other, one)
    assert distance(one, third) <= distance(one, other) + distance(other, third)
    assert abs(len(one) - len(other)) <= distance(one, other) <= max(len(one), len(other))
