"""JSON that belongs to somebody else: read with its places, refused where its agent could not read it."""

import pytest

from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.settings import Settings
from treblehook.gateway.install.text.reading import DEEPEST, JsonInvalid, read
from treblehook.host.problems import ConfigInvalid

ENTRY = {"hooks": [{"type": "command", "command": "true"}]}


def wrong(text: str, *, comments: bool = True, marked: bool = True) -> tuple[int, int, str]:
    with pytest.raises(JsonInvalid) as invalid:
        read(text, comments=comments, marked=marked)
    return invalid.value.line, invalid.value.column, invalid.value.found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", (1, 1, "the end of the file")),
        ("\ufeff", (1, 2, "the end of the file")),
        ("{", (1, 2, "the end of the file")),
        ('{"a": 1,}', (1, 9, "'}'")),
        ('{\r\n  "a": [1,\r\n  ]}', (3, 3, "']}'")),
        ('{"a" 1}', (1, 6, "'1}'")),
        ("{a: 1}", (1, 2, "'a: 1}'")),
        ('{"a": 01}', (1, 8, "'1}'")),
        ('{"a": NaN}', (1, 7, "'NaN}'")),
        ('{"a": "one\ntwo"}', (1, 7, "'\"one'")),
        ('{"a": "\\x"}', (1, 7, "'\"\\\\x\"}'")),
        ("{} {}", (1, 4, "'{}'")),
        ("{} // behind\n/* open", (2, 1, "'/* open'")),
        ("{\u00a0}", (1, 2, "'\\xa0}'")),
    ],
)
def test_the_place_of_what_is_no_json(text: str, place: tuple[int, int, str]) -> None:
    assert wrong(text) == place


def test_comments_and_a_byte_order_mark_are_read_only_where_the_agent_reads_them() -> None:
    assert wrong('{\n /* why */ "a": 1}', comments=False) == (2, 2, "a comment")
    assert wrong("\ufeff{}", marked=False) == (1, 1, "a byte order mark")


def test_nesting_has_an_end() -> None:
    assert read("[" * DEEPEST + "]" * DEEPEST, comments=False).root.kind == "list"
    assert wrong("[" * 100_000) == (1, DEEPEST + 1, "one more level")


def test_a_number_is_what_the_agents_make_of_it() -> None:
    assert read("[1, -2, 1e2, 0.5, 123456789012345678901234567890]", comments=False).root.plain() == [
        1,
        -2,
        100.0,
        0.5,
        1.2345678901234568e29,
    ]


def refused(agent: str, text: str) -> str:
    settings = Settings(agent, "/home/me/settings.json", DIALECTS[agent])
    with pytest.raises(ConfigInvalid) as invalid:
        settings.put_in(text, {"PreToolUse": ENTRY}, {})
    return str(invalid.value)


@pytest.mark.parametrize(
    ("agent", "text", "told"),
    [
        (
            "claude-code",
            "{\n  // mine\n}",
            "line 2, column 3: found a comment (allowed: JSON without comments; claude-code cannot read the file as it is)",
        ),
        (
            "codex",
            "\ufeff{}",
            "line 1, column 1: found a byte order mark (allowed: UTF-8 without one; codex cannot read the file as it is)",
        ),
        ("gemini", "[]", "line 1, column 1: found a list (allowed: an object)"),
        ("gemini", '{"hooks": []}', "line 1, column 11: found hooks, which is a list (allowed: an object)"),
        ("gemini", '{"hooks": {"PreToolUse": {}}}', "line 1, column 26: found hooks.PreToolUse, which is an object (allowed: a list)"),
        ("qwen", '{"hooks": {},\n "hooks": {}}', "line 2, column 2: found hooks once more (allowed: one; the agent reads the last)"),
        (
            "qwen",
            '{"hooks": {"PreToolUse": [], "PreToolUse": []}}',
            "line 1, column 30: found hooks.PreToolUse once more (allowed: one; the agent reads the last)",
        ),
        (
            "codex",
            '{"hooks": {}, "model": 1}',
            "line 1, column 15: found the key 'model' (codex drops the file unless all are: description, hooks)",
        ),
        (
            "codex",
            '{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://x"}]}]}}',
            "line 1, column 41: found a handler of type http (codex drops the whole file for it)",
        ),
    ],
)
def test_what_the_agent_would_not_read_is_not_added_to(agent: str, text: str, told: str) -> None:
    assert refused(agent, text) == f"/home/me/settings.json: {told}"
