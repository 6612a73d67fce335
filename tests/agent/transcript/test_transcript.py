"""The file of a session: what is appended is there, and what is torn is cut off."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.agent.transcript import Transcript, TranscriptFailed, read_records

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "sessions" / "ses_1.jsonl"


def written(path: Path, *records: dict[str, Any]) -> None:
    transcript = Transcript.create(path)
    for record in records:
        transcript.append(record)
    transcript.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_may_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        written(path, {"type": "prompt"})
    finally:
        os.umask(before)

    assert [mode(path), mode(path.parent), mode(path.parent.parent)] == [0o600, 0o700, 0o700]


def test_a_folder_that_is_there_stays_as_it_is(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.parent.chmod(0o750)
    written(path)

    assert mode(path.parent) == 0o750


@given(records=st.lists(st.dictionaries(st.text(), JSON, max_size=4), max_size=5))
def test_what_is_appended_is_read_again(tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.mktemp("home") / "s.jsonl"
    written(path, *records)

    transcript, found = Transcript.resume(path)
    transcript.close()

    assert found == records
    assert transcript.damage == ()
    assert transcript.id == "s"
    assert path.read_bytes().count(b"\n") == len(records)


def test_a_resumed_file_goes_on(path: Path) -> None:
    written(path, {"n": 1})
    transcript, _ = Transcript.resume(path)
    transcript.append({"n": 2})
    transcript.close()

    assert read_records(path.read_bytes(), "f").records == ({"n": 1}, {"n": 2})


def test_a_record_is_on_disk_when_append_returns(path: Path) -> None:
    transcript = Transcript.create(path)
    transcript.append({"n": 1})

    assert path.read_bytes() == b'{"n":1}\n'
    transcript.close()


def test_a_big_record_is_one_line(path: Path) -> None:
    big = {"text": "line\n" * 2_000_000}
    written(path, big, {"n": 2})

    transcript, records = Transcript.resume(path)
    transcript.close()
    assert records == [big, {"n": 2}]


@pytest.mark.parametrize(
    ("text", "kept"),
    [("a\ud800b", "a\ufffdb"), ("\udfff", "\ufffd"), ("\ud83d\ude00", "\U0001f600"), ("\ude00\ud83d", "\ufffd\ufffd")],
)
def test_surrogates_that_are_no_character_are_replaced(path: Path, text: str, kept: str) -> None:
    written(path, {"text": text, text: [text, {"deep": (text,)}], "n": 1})

    transcript, records = Transcript.resume(path)
    transcript.close()
    assert records == [{"text": kept, kept: [kept, {"deep": [kept]}], "n": 1}]


def test_a_value_without_a_json_form_writes_nothing(path: Path) -> None:
    transcript = Transcript.create(path)
    with pytest.raises(TypeError):
        transcript.append({"value": object()})
    transcript.append({"n": 1})
    transcript.close()

    assert read_records(path.read_bytes(), "f").records == ({"n": 1},)


def test_a_cut_at_any_byte_loses_only_what_is_torn(tmp_path: Path) -> None:
    records = [{"n": number, "text": "é\n\U0001f600" * number} for number in range(1, 4)]
    whole = tmp_path / "whole.jsonl"
    written(whole, *records)
    data = whole.read_bytes()
    ends = [index + 1 for index, byte in enumerate(data) if byte == ord("\n")]

    for cut in range(ends[0], len(data) + 1):
        path = tmp_path / f"cut{cut}.jsonl"
        path.write_bytes(data[:cut])

        transcript, found = Transcript.resume(path)
        transcript.append({"after": cut})
        transcript.close()

        kept = sum(end <= cut for end in ends)
        assert found == records[:kept]
        assert transcript.damage == ()
        assert read_records(path.read_bytes(), "f").records == (*records[:kept], {"after": cut})


def test_a_long_torn_line_is_cut_off(path: Path) -> None:
    written(path, {"n": 1})
    with path.open("ab") as file:
        file.write(b"x" * 300_000)

    transcript, records = Transcript.resume(path)
    transcript.close()
    assert records == [{"n": 1}]
    assert path.read_bytes() == b'{"n":1}\n'


def test_a_file_that_is_torn_from_the_start_is_empty(path: Path) -> None:
    written(path)
    path.write_bytes(b'{"n":')

    transcript, records = Transcript.resume(path)
    transcript.close()
    assert records == []
    assert path.read_bytes() == b""


@pytest.mark.parametrize("damaged", [b"", b"{", b"[1]", b"5", b"\x00\x00\x00", b'{"a":"\xff"}', b'{"n":1}{"n":2}', b"[" * 100_000])
def test_a_damaged_line_is_left_out_and_reported(path: Path, damaged: bytes) -> None:
    written(path, {"n": 1})
    with path.open("ab") as file:
        file.write(damaged + b'\n{"n":3}\n')

    transcript, records = Transcript.resume(path)
    transcript.close()

    assert records == [{"n": 1}, {"n": 3}]
    (problem,) = transcript.damage
    assert (problem.file, problem.place, problem.level) == (str(path), "line 2", "warning")
    assert path.read_bytes() == b'{"n":1}\n' + damaged + b'\n{"n":3}\n'


def test_a_file_is_created_once(path: Path) -> None:
    written(path, {"n": 1})

    with pytest.raises(TranscriptFailed) as caught:
        Transcript.create(path)
    assert caught.value.path == path
    assert "exists" in caught.value.reason
    assert path.read_bytes() == b'{"n":1}\n'


def test_a_file_that_is_not_there_is_not_resumed(path: Path) -> None:
    with pytest.raises(TranscriptFailed) as caught:
        Transcript.resume(path)
    assert caught.value.reason == "No such file or directory"
    assert not path.exists()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_only_a_regular_file_is_resumed(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)

    with pytest.raises(TranscriptFailed):
        Transcript.resume(path)


def test_after_closing_nothing_is_appended(path: Path) -> None:
    transcript = Transcript.create(path)
    transcript.close()
    transcript.close()

    with pytest.raises(TranscriptFailed) as caught:
        transcript.append({"n": 1})
    assert caught.value.reason == "it is closed"


def test_nothing_is_left_open(path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    written(path, {"n": 1})
    transcript, _ = Transcript.resume(path)
    transcript.close()
    with pytest.raises(TranscriptFailed):
        Transcript.create(path)

    assert os.listdir("/proc/self/fd") == before
