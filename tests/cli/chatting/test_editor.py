"""The line that is being typed."""

import pytest

from treblehook.cli.chatting.editor import Editor
from treblehook.cli.chatting.keys import Name, Pressed, Typed


class Typing:
    """An editor with what it has shown last and the lines it has finished."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.shown = ("", "")
        self.editor = Editor(self._show, self.lines.append)

    def _show(self, before: str, after: str) -> None:
        self.shown = (before, after)

    def take(self, *keys: str | Pressed) -> None:
        for key in keys:
            self.editor.take(key if isinstance(key, Pressed) else Typed(key))


def press(key: Name, times: int = 1) -> list[Pressed]:
    return [Pressed(key)] * times


def test_enter_finishes_the_line() -> None:
    typing = Typing()
    typing.take("where", *press("enter"), "there", *press("enter"))

    assert typing.lines == ["where", "there"]
    assert typing.shown == ("", "")


def test_a_blank_line_is_none() -> None:
    typing = Typing()
    typing.take("  ", *press("enter"))

    assert typing.lines == []


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ([*press("left", 2), "X"], ("one tX", "wo")),
        ([*press("left", 99), "X"], ("X", "one two")),
        ([*press("home"), *press("right"), *press("delete")], ("o", "e two")),
        ([*press("home"), *press("end"), "!"], ("one two!", "")),
        (press("backspace", 2), ("one t", "")),
        ([*press("home"), *press("backspace")], ("", "one two")),
        (press("delete"), ("one two", "")),
        (press("word"), ("one ", "")),
        (press("word", 2), ("", "")),
        ([*press("left", 3), *press("clear")], ("", "two")),
        (press("escape"), ("one two", "")),
    ],
)
def test_editing(keys: list[str | Pressed], shown: tuple[str, str]) -> None:
    typing = Typing()
    typing.take("one two", *keys)

    assert typing.shown == shown
