"""JSON is read and written as JavaScript does it."""

import json
import math
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.needs import needs
from treblehook.contracts.vera.json_text import MAX_DEPTH, TRIMMED, NotJson, TooDeep, encoded, parsed, shown, trimmed

ANY_TEXT = st.text(st.characters(exclude_categories=[]))
NUMBERS = st.integers(-(10**300), 10**300) | st.floats(allow_nan=False, allow_infinity=False)


def values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | NUMBERS | texts,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=20,
    )


@given(values(st.text()))
def test_what_was_written_is_read_again(value: Any) -> None:
    assert parsed(encoded(value).decode()) == value


@given(values(ANY_TEXT))
def test_what_was_read_can_be_written_anywhere(value: Any) -> None:
    text = json.dumps(value)

    again = parsed(text)

    json.dumps(again, ensure_ascii=False).encode()
    assert parsed(encoded(value).decode()) == again


@given(ANY_TEXT)
def test_half_a_pair_has_as_many_bytes_as_what_replaces_it(text: str) -> None:
    (again,) = parsed(json.dumps([text]))

    assert len(again.encode()) == len(
        text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")
    )


@pytest.mark.parametrize(
    "text", ["", "nul", "[1,]", "{}{}", "01", "+1", ".5", "1.", "'x'", '"\t"', '"\\x"', "NaN", "[Infinity]", "-Infinity", "\ufeff1"]
)
def test_texts_that_are_not_json(text: str) -> None:
    with pytest.raises(NotJson):
        parsed(text)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "1" + "0" * 5000])
def test_a_number_beyond_a_double_is_refused_unless_numbers_do_not_matter(number: str) -> None:
    with pytest.raises(NotJson, match="not a finite number"):
        parsed(f'{{"a": [{number}]}}')

    (read,) = parsed(f"[{number}]", finite=False)
    assert math.isinf(read)


@pytest.mark.parametrize("number", ["1e308", "5e-324", "1e-999", "9" * 308, "123456789012345678901234567890"])
def test_a_number_within_a_double_is_read(number: str) -> None:
    assert math.isfinite(parsed(number))


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_bounded(opening: str, closing: str) -> None:
    parsed(opening * MAX_DEPTH + "1" + closing * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(TooDeep):
            parsed(opening * depth + "1" + closing * depth)


def test_a_value_nested_without_end_cannot_be_written() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    endless: list[Any] = []
    endless.append(endless)

    for value in (deep, endless):
        with pytest.raises(NotJson):
            encoded(value)


def test_equal_keys() -> None:
    assert parsed('{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}


def test_a_quoted_value_is_short() -> None:
    assert shown("x" * 100) == '"' + "x" * 56 + "..."
    assert shown(None) == "null"


@given(st.binary())
def test_any_bytes_become_a_text(raw: bytes) -> None:
    trimmed(raw).encode()


@needs("node")
def test_trimming_is_javascripts() -> None:
    script = "console.log([...Array(0x10000).keys()].filter(c => String.fromCharCode(c).trim() === '').join())"
    run = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)

    assert sorted(map(ord, TRIMMED)) == [int(code) for code in run.stdout.split(",")]


@needs("node")
def test_reading_agrees_with_javascript() -> None:
    texts = [
        *("1", "-0", "1E5", "1e+5", "01", "-", "--1", ".5", "1.", "0x1", "1_0", "NaN", "-Infinity", "undefined", "", " ", "\u00a01"),
        *(
            '"\\u00e9"',
            '"\\ud83d\\ude00"',
            '"\\ud800"',
            '"\\u12"',
            '"\\v"',
            '"\\/"',
            '"\n"',
            '"\x7f"',
            '"\u2028"',
            "'a'",
            '"\\ud800\\u0041"',
        ),
        *(
            '{"a":1,"a":2}',
            '{"a":1,}',
            "{a:1}",
            "[,]",
            "[1 2]",
            "[1]x",
            "[1]\n",
            "/**/1",
            '{"__proto__":1}',
            '"\\\\ud800"',
            '"\\\\\\ud800"',
        ),
    ]
    script = "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(t => { try { return [JSON.parse(t)] } catch { return null } })))"
    run = subprocess.run(["node", "-e", script, json.dumps(texts)], capture_output=True, text=True, check=True)

    def read(text: str) -> list[Any] | None:
        try:
            return [parsed(text)]
        except NotJson:
            return None

    assert {text: read(text) for text in texts} == dict(zip(texts, parsed(run.stdout), strict=True))


@needs("node")
def test_writing_agrees_with_javascript() -> None:
    value: dict[str, Any] = {"text": 'é\u2028\ud800\U0001f600"\\\n\x01\x7f', "list": [1, 2.5, True, None, {}], "deep": {"": []}}
    script = "process.stdout.write(JSON.stringify(JSON.parse(process.argv[1])))"
    run = subprocess.run(["node", "-e", script, json.dumps(value)], capture_output=True, check=True)

    assert encoded(value) == run.stdout
