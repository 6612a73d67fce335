"""What hooks read of the values that tools return."""

from dataclasses import dataclass

import pytest

from treblehook.adapters.blocked_prompts import KEPT, BlockedPrompts
from treblehook.adapters.texts import text_of


class Model:
    def model_dump(self, mode: str) -> object:
        return {"mode": mode}


class Opaque:
    def __str__(self) -> str:
        return "a chest"


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (3, "3"),
        (None, "null"),
        ({"a": [1, "x"]}, '{"a":[1,"x"]}'),
        (Point(3), '{"x":3}'),
        (Model(), '{"mode":"json"}'),
        ([Model()], '[{"mode":"json"}]'),
        (Opaque(), "a chest"),
        ("\ud800", "\ud800"),
    ],
)
def test_the_text_of_a_value(value: object, text: str) -> None:
    assert text_of(value) == text


def test_a_value_that_holds_itself_has_a_text() -> None:
    value: list[object] = []
    value.append(value)
    assert text_of(value) == "[[...]]"


def test_a_conversation_holds_a_blocked_prompt_wherever_it_stands() -> None:
    blocked = BlockedPrompts()
    blocked.add(["ahoy", "hunter2"])
    assert blocked.among(["ahoy", "hunter2", "so?"])
    assert not blocked.among(["ahoy"])
    assert not blocked.among(["hunter2"])
    assert not blocked.among([])
    blocked.passed(["ahoy", "hunter2"])
    assert not blocked.among(["ahoy", "hunter2"])


def test_only_so_many_are_remembered() -> None:
    blocked = BlockedPrompts()
    for number in range(KEPT + 1):
        blocked.add([str(number)])
    assert not blocked.among(["0"])
    assert blocked.among(["1"])
    assert blocked.among([str(KEPT)])


def test_where_the_blocked_prompts_of_a_conversation_stand() -> None:
    blocked = BlockedPrompts()
    blocked.add(["ahoy", "it is", "hunter2"], 2)
    assert blocked.places(["ahoy", "it is", "hunter2", "so?"]) == [1, 2]
    assert blocked.places(["ahoy", "it is", "so?"]) == []
    assert blocked.places(["it is", "hunter2"]) == []
    blocked.passed(["ahoy", "it is", "hunter2"])
    assert blocked.places(["ahoy", "it is", "hunter2", "so?"]) == []
