"""Names of sessions: in the order of time, listed, and found by their beginning."""

import re
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.agent.transcript import (
    SessionAmbiguous,
    SessionNotFound,
    SessionUnknown,
    TranscriptFailed,
    find_session,
    list_sessions,
    new_session_id,
)

MOMENTS = st.integers(0, 2**47 * 1_000_000)


def session_id(nanoseconds: int, tail: bytes = b"\xff" * 8) -> str:
    return new_session_id(lambda: nanoseconds, lambda count: tail[:count])


def kept(folder: Path, *ids: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in ids:
        (folder / f"{name}.jsonl").touch()


@given(moment=MOMENTS, tail=st.binary(min_size=8, max_size=8))
def test_an_id_is_a_uuid_of_version_7(moment: int, tail: bytes) -> None:
    name = session_id(moment, tail)

    assert re.fullmatch("ses_[0-9a-f]{32}", name)
    number = uuid.UUID(name[4:])
    assert (number.version, number.variant) == (7, uuid.RFC_4122)
    assert number.int >> 80 == moment // 1_000_000


@given(moments=st.tuples(MOMENTS, MOMENTS))
def test_a_later_id_is_a_greater_text(moments: tuple[int, int]) -> None:
    earlier, later = sorted(moments)
    # The clock is kept to a 4096th of a millisecond.
    if later - earlier > 245:
        assert session_id(earlier, b"\xff" * 8) < session_id(later, b"\x00" * 8)


def test_ids_differ() -> None:
    assert len({new_session_id() for _ in range(1000)}) == 1000


def test_sessions_are_listed_newest_first(tmp_path: Path) -> None:
    ids = [session_id(moment * 1_000_000) for moment in (5, 70_000, 900)]
    kept(tmp_path, *ids, "notes", "ses_12")
    (tmp_path / ids[0]).mkdir()

    found = list_sessions(tmp_path)

    assert [session.started for session in found] == [70_000, 900, 5]
    assert found[0].id == ids[1]
    assert found[0].path == tmp_path / f"{ids[1]}.jsonl"


def test_without_a_folder_there_are_no_sessions(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "sessions") == []


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path) -> None:
    (tmp_path / "sessions").touch()

    with pytest.raises(TranscriptFailed) as caught:
        list_sessions(tmp_path / "sessions")
    assert caught.value.reason == "Not a directory"


def test_a_session_is_found_by_any_beginning_of_its_own(tmp_path: Path) -> None:
    one, other = session_id(0), session_id(10**18)
    kept(tmp_path, one, other)

    for given_text in (other, other[4:], other[:7], other[4:7].upper(), f" {other}\n"):
        assert find_session(tmp_path, given_text) == other


def test_an_unknown_beginning_names_the_newest(tmp_path: Path) -> None:
    ids = [session_id(moment * 10**9) for moment in range(8)]
    kept(tmp_path, *ids)

    with pytest.raises(SessionUnknown) as caught:
        find_session(tmp_path, "ses_ff")
    assert caught.value.candidates == tuple(reversed(ids[3:]))
    assert "'ses_ff'" in str(caught.value)
    assert ids[-1] in str(caught.value)


def test_an_ambiguous_beginning_names_all_that_it_fits(tmp_path: Path) -> None:
    ids = [session_id(moment * 10**6) for moment in (1, 2)]
    kept(tmp_path, *ids, session_id(10**18))

    with pytest.raises(SessionAmbiguous) as caught:
        find_session(tmp_path, "ses_0000")
    assert caught.value.candidates == (ids[1], ids[0])


@pytest.mark.parametrize("given_text", ["../../etc/passwd", "*", "ses_", ""])
def test_a_beginning_is_no_path_and_no_pattern(tmp_path: Path, given_text: str) -> None:
    with pytest.raises(SessionNotFound):
        find_session(tmp_path, given_text)
