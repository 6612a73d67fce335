"""Bytes of a terminal as keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.cli.chatting.keys import KeyReader, Pressed, Typed


def keys(data: bytes) -> list[Typed | Pressed]:
    return KeyReader().feed(data)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"hello", [Typed("hello")]),
        ("ça 漢".encode(), [Typed("ça 漢")]),
        (b"a\r", [Typed("a"), Pressed("enter")]),
        (b"\x7f", [Pressed("backspace")]),
        (b"\x04", [Pressed("end of input")]),
        (b"\x1b[D\x1b[C\x1bOH\x1b[F\x1b[3~", [Pressed("left"), Pressed("right"), Pressed("home"), Pressed("end"), Pressed("delete")]),
        (b"\x1b[1;5Aa", [Typed("a")]),
        (b"\x1ba", [Pressed("escape"), Typed("a")]),
        (b"\x1b\x1b[D", [Pressed("escape"), Pressed("left")]),
        (b"\x00\x07a", [Typed("a")]),
        (b"\x1b[200~a\r\nb\x1b[31mc\x1b[201~d", [Typed("a\nb[31mc"), Typed("d")]),
        (b"\xff", [Typed("\ufffd")]),
    ],
)
def test_keys(data: bytes, found: list[Typed | Pressed]) -> None:
    assert keys(data) == found


def test_a_lone_esc_is_one_once_nothing_follows() -> None:
    reader = KeyReader()
    assert reader.feed(b"\x1b") == []
    assert reader.unsure

    assert reader.settle() == [Pressed("escape")]

    assert not reader.unsure
    assert reader.feed(b"a") == [Typed("a")]


def test_a_paste_that_has_not_ended_is_not_esc() -> None:
    reader = KeyReader()
    assert reader.feed(b"\x1b[200~half") == []
    assert not reader.unsure
    assert reader.settle() == []

    assert reader.feed(b" and half\x1b[201~") == [Typed("half and half")]


pieces = st.lists(st.sampled_from([b"a", "é".encode(), b"\r", b"\x1b[D", b"\x1bOC", b"\x1b[200~x\ny\x1b[201~", b"\x7f", b"\x1b[3~"]))


@given(pieces, st.data())
def test_it_does_not_matter_how_the_bytes_are_cut(whole: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(whole)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    reader = KeyReader()
    found = [key for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True) for key in reader.feed(stream[start:end])]

    assert _joined(found) == _joined(keys(stream))


@given(st.binary())
def test_no_bytes_are_too_odd(data: bytes) -> None:
    reader = KeyReader()
    reader.feed(data)
    reader.settle()


def _joined(found: list[Typed | Pressed]) -> list[Typed | Pressed]:
    """Neighbouring texts as one."""
    joined: list[Typed | Pressed] = []
    for key in found:
        if joined and isinstance(key, Typed) and isinstance(before := joined[-1], Typed):
            joined[-1] = Typed(before.text + key.text)
        else:
            joined.append(key)
    return joined
