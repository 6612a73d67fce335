"""What is said of a config.json that cannot be read as one, and of its extensions list."""

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.contracts.vera.config import load_config
from treblehook.host.problems import ConfigInvalid, Problem


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def problem(file: Path) -> Problem:
    with pytest.raises(ConfigInvalid) as raised:
        load_config(file)
    (found,) = raised.value.problems
    assert found.file == str(file)
    return found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "hooks": [,]\n}', "line 2, column 13"),
        ("", "line 1, column 1"),
        ('{"hooks": []} {}', "line 1, column 15"),
        ('{\n "a": "NaN",\n "b": [-Infinity]}', "line 3, column 8"),
        ('{"a": NaN}', "line 1, column 7"),
        ("{'hooks': []}", "line 1, column 2"),
        ('{"a": "tab\there"}', "line 1, column 11"),
    ],
)
def test_invalid_json_names_line_and_column(file: Path, text: str, place: str) -> None:
    file.write_text(text)

    found = problem(file)

    assert found.place == place
    assert found.message.startswith("is not JSON: ")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"hooks": ' + "[" * 1000 + "]" * 1000 + "}"])
def test_deep_nesting_is_said(file: Path, text: str) -> None:
    file.write_text(text)

    assert "nested deeper than 200 levels" in problem(file).message


@pytest.mark.parametrize("text", ["[]", "null", '"x"', "3"])
def test_a_file_holds_one_object(file: Path, text: str) -> None:
    file.write_text(text)

    assert problem(file).message == f"is {text}; it must be an object"


def test_a_file_must_be_utf8(file: Path) -> None:
    file.write_bytes(b'{"model": "caf\xe9"}')

    assert problem(file).message == "byte 14 is not UTF-8"


def test_a_byte_order_mark_does_no_harm(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf{"hooks": [{"phase": "pre_turn", "argv": ["a"]}]}')

    assert len(load_config(file).hooks) == 1


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert problem(tmp_path).message == "cannot be read: Is a directory"


def test_a_link_that_leads_nowhere_is_not_taken_for_no_hooks(file: Path) -> None:
    file.symlink_to(file.parent / "unmounted" / "config.json")

    assert problem(file).message == "is a symbolic link that leads nowhere"


GUARD = '{"phase": "pre_tool_use", "argv": ["lookout"]}'


@pytest.mark.parametrize(
    ("text", "place", "key"),
    [
        (f'{{"hooks": [{GUARD}], "hooks": []}}', "hooks", "hooks"),
        (f'{{"hooks": [{GUARD}], "\\u0068ooks": [], "hooks": []}}', "hooks", "hooks"),
        (f'{{"hooks": [{GUARD}, {{"phase": "pre_turn", "argv": ["a"], "argv": ["b"]}}]}}', "hooks[1].argv", "argv"),
        ('{"extensions": [{"path": "/a", "config": {"rows": [[{"x": 1, "x": 1}]]}}]}', "extensions[0].config.rows[0][0].x", "x"),
        ('{"a": {"": 1, "": 2}}', "a.", ""),
    ],
)
def test_a_doubled_key_does_not_load_since_it_would_drop_guards(file: Path, text: str, place: str, key: str) -> None:
    file.write_text(text)

    found = problem(file)

    assert found.place == place
    assert found.message == f'the key "{key}" stands here more than once, and only the last would count'


def test_every_doubled_key_is_told_beside_what_else_is_wrong(file: Path) -> None:
    file.write_text('{"hooks": [{"phase": "pre_turn", "phase": "nap", "argv": ["a"], "argv": ["b"]}]}')

    with pytest.raises(ConfigInvalid) as raised:
        load_config(file)

    assert [found.place for found in raised.value.problems] == ["hooks[0].phase", "hooks[0].argv", "hooks[0].phase"]


def test_equal_keys_of_different_objects_are_fine(file: Path) -> None:
    file.write_text(f'{{"hooks": [{GUARD}, {GUARD}], "a": {{"hooks": {{"hooks": 1}}}}, "b": {"9" * 5000}}}')

    assert len(load_config(file).hooks) == 2


def test_numbers_elsewhere_in_the_file_are_not_ours(file: Path) -> None:
    file.write_text('{"hooks": [], "a": 1e999, "b": ' + "9" * 5000 + "}")

    assert load_config(file).hooks == ()


def test_half_a_surrogate_pair_does_no_harm(file: Path) -> None:
    file.write_text('{"hooks": [{"phase": "pre_turn", "argv": ["a\\ud800", "\\\\ud800", "\\ud83d\\ude00"]}]}')

    assert load_config(file).hooks[0].argv == ("a\ufffd", "\\ud800", "\U0001f600")


def test_extensions_are_read(file: Path) -> None:
    file.write_text(
        '{"extensions": [{"path": " /a/lookout\\n", "config": {"rows": [1]}}, {"path": "/b", "enabled": false, "config": null}]}'
    )

    first, second = load_config(file).extensions

    assert (first.path, first.enabled, first.config) == ("/a/lookout", True, {"rows": [1]})
    assert (second.path, second.enabled, second.config) == ("/b", False, None)


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("{}", "extensions[0].path"),
        ('{"path": null}', "extensions[0].path"),
        ('{"path": " "}', "extensions[0].path"),
        ('{"path": "lookout"}', "extensions[0].path"),
        ('{"path": "/a", "enabled": null}', "extensions[0].enabled"),
        ('{"path": "/a", "enabled": 1}', "extensions[0].enabled"),
        ('"/a"', "extensions[0]"),
    ],
)
def test_a_bad_extension_entry_does_not_load(file: Path, entry: str, place: str) -> None:
    file.write_text(f'{{"hooks": [], "extensions": [{entry}]}}')

    assert problem(file).place == place


def test_extensions_that_are_no_array_do_not_load(file: Path) -> None:
    file.write_text('{"extensions": {}}')

    assert problem(file).place == "extensions"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
WORDS = st.sampled_from(["pre_turn", "Stop", "claude", "vera", "lookout", "../x", "/abs"]) | JSON
HOOKS = st.dictionaries(st.sampled_from(["phase", "protocol", "argv", "timeout_ms"]), WORDS | st.lists(WORDS, max_size=3))
EXTENSIONS = st.dictionaries(st.sampled_from(["path", "enabled", "config"]), WORDS)
CONFIGS = st.fixed_dictionaries(
    {}, optional={"hooks": st.lists(HOOKS | JSON, max_size=3), "extensions": st.lists(EXTENSIONS | JSON, max_size=3)}
)


def loads_or_is_invalid(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_bytes(raw)
        with contextlib.suppress(ConfigInvalid):
            load_config(file)


@given(content=CONFIGS | JSON)
def test_any_json_loads_or_is_invalid(content: Any) -> None:
    loads_or_is_invalid(json.dumps(content).encode())


@given(raw=st.binary())
def test_any_bytes_load_or_are_invalid(raw: bytes) -> None:
    loads_or_is_invalid(raw)
