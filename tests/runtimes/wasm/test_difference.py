"""Two types differ where one says that they do, and the message names the place."""

import pytest

from treblehook.runtimes.wasm.difference import difference
from treblehook.runtimes.wasm.types import FunctionType
from treblehook.runtimes.wasm.wit import read_text

TEXT = """
package t:t@1.0.0;
interface i {{
    enum kind {{ a, b }}
    flags marks {{ x, y }}
    record message {{ role: string, id: option<string>, kind: kind, marks: marks }}
    variant output {{ none, seed(list<message>), deny(string) }}
    f: func(event: message, size: tuple<u32, f64>) -> result<output, string>;
    other: {other};
}}
"""
F = "func(event: message, size: tuple<u32, f64>) -> result<output, string>"


def function(text: str, old: str = "", new: str = "") -> FunctionType:
    wit = TEXT.format(other=F)
    assert old in wit
    return read_text(wit.replace(old, new))["t:t/i@1.0.0"].functions[text]


def test_the_same_type_has_no_difference() -> None:
    assert difference(function("f"), function("other")) is None


def test_names_of_parameters_and_of_types_do_not_count() -> None:
    renamed = function("f", "message", "mail")

    assert difference(function("f"), renamed) is None
    assert difference(function("f"), function("f", "event:", "e:")) is None


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        (", deny(string)", "", "result.ok", "has no case deny"),
        ("deny(string)", "deny(string), artifact(string)", "result.ok", "has a case artifact that is not expected"),
        ("none, seed(list<message>)", "seed(list<message>), none", "result.ok", "has its cases in the order seed, none, deny"),
        ("deny(string)", "deny", "result.ok.deny", "is nothing, expected is string"),
        ("deny(string)", "deny(u32)", "result.ok.deny", "is u32, expected is string"),
        ("none,", "none(string),", "result.ok.none", "is string, expected is nothing"),
        ("seed(list<message>)", "seed(message)", "result.ok.seed", r"is a record, expected is list<a record>"),
        ("role: string, ", "", "event", "has no field role"),
        ("role: string", "role: string, at: u64", "event", "has a field at that is not expected"),
        ("role: string, id: option<string>", "id: option<string>, role: string", "event", "has its fields in the order id, role"),
        ("role: string", "role: u8", "event.role", "is u8, expected is string"),
        ("id: option<string>", "id: string", "event.id", "is string, expected is option<string>"),
        ("id: option<string>", "id: option<char>", r"event.id\?", "is char, expected is string"),
        ("{ a, b }", "{ a }", "event.kind", "has no case b"),
        ("{ a, b }", "{ b, a }", "event.kind", "has its cases in the order b, a, expected is a, b"),
        ("{ x, y }", "{ x, y, z }", "event.marks", "has a flag z that is not expected"),
        ("tuple<u32, f64>", "tuple<u32, f32>", "size.1", "is f32, expected is f64"),
        ("tuple<u32, f64>", "tuple<u32>", "size", r"is tuple<u32>, expected is tuple<u32, f64>"),
        (", size: tuple<u32, f64>", "", "it", "takes 1 arguments, expected are 2"),
        ("result<output, string>", "result<output>", "result.err", "is nothing, expected is string"),
        ("result<output, string>", "output", "result", r"is a variant, expected is result<a variant, string>"),
        (" -> result<output, string>", "", "result", "is nothing, expected is result<a variant, string>"),
    ],
)
def test_a_difference_is_told_with_its_place(old: str, new: str, where: str, what: str) -> None:
    found = difference(function("f"), function("f", old, new))

    assert found is not None
    assert found.where == where.replace("\\", "")
    assert what in found.what
