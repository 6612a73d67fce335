"""What the operator allows a hook (murmur.md 7, cases 136, 138, 140)."""

from typing import Any

import pytest

from treblehook.contracts.murmur.grant import Grant, read_grant
from treblehook.contracts.murmur.network import Origin, parse_origin


def grant(capabilities: Any = None, **entry: Any) -> Grant:
    found, problems = read_grant({"capabilities": capabilities, **entry}, "murmur.yaml", "artifacts[1]")
    assert not problems
    return found


def wrong(capabilities: Any = None, **entry: Any) -> str:
    _, problems = read_grant({"capabilities": capabilities, **entry}, "murmur.yaml", "artifacts[1]")
    assert [problem.file for problem in problems] == ["murmur.yaml"]
    assert problems[0].place.startswith("artifacts[1].")
    return str(problems[0])


def test_nothing_is_granted_by_default() -> None:
    assert grant() == grant({}) == Grant()


def test_everything() -> None:
    found = grant(
        {
            "network": {"allow": ["collector:4318"]},
            "filesystem": {"scope": "a/../b"},
            "state": {"store": "memory"},
            "task_io": {"read": True},
            "conversation": {"read": True},
        },
        config={"b": 1, "a": ["ü"]},
    )

    assert found == Grant((Origin("collector", 4318),), "b", "memory", True, True, '{"b":1,"a":["ü"]}')


def test_case_136_one_origin() -> None:
    origin = parse_origin("http://127.0.0.1:1")

    assert origin.admits("http", "127.0.0.1", 1)
    assert not origin.admits("http", "127.0.0.1", 2)
    assert not origin.admits("https", "127.0.0.1", 1)
    assert not origin.admits("http", "127.0.0.2", 1)


@pytest.mark.parametrize(
    ("entry", "origin"),
    [
        ("Example.COM", Origin("example.com")),
        ("example.com:8080", Origin("example.com", 8080)),
        ("https://example.com", Origin("example.com", 443, "https")),
        ("HTTP://example.com", Origin("example.com", 80, "http")),
        ("http://[::1]:9", Origin("::1", 9, "http")),
        ("[::1]", Origin("::1")),
    ],
)
def test_entries(entry: str, origin: Origin) -> None:
    assert parse_origin(entry) == origin


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "ftp://x",
        "http://x/",
        "http://x/a",
        "http://x?",
        "http://x#f",
        "http://u@x",
        "*.x",
        "x:0",
        "x:99999",
        "x:y",
        "http://",
        "a b",
        ":80",
        "x:",
    ],
)
def test_entries_that_are_none(entry: str) -> None:
    assert "E-CAP-001" in wrong({"network": {"allow": [entry]}})


def test_a_bare_host_is_no_other_host() -> None:
    origin = parse_origin("example.com")

    assert origin.admits("https", "EXAMPLE.com", 8443)
    assert not origin.admits("https", "a.example.com", 443)
    assert not origin.admits("https", "example.com.evil", 443)


@pytest.mark.parametrize("scope", ["/abs", "../x", "a/../../x", "..", "", 7, "a\0b", ["a"]])
def test_case_138_a_scope_that_leads_out(scope: Any) -> None:
    assert "E-CAP-002" in wrong({"filesystem": {"scope": scope}})


def test_the_whole_root() -> None:
    assert grant({"filesystem": {"scope": "."}}).scope == "."


@pytest.mark.parametrize("block", [{}, {"read": None}, {"read": "yes"}, True, None])
@pytest.mark.parametrize("key", ["task_io", "conversation"])
def test_reading_is_spelled_out(key: str, block: Any) -> None:
    assert key in wrong({key: block})


@pytest.mark.parametrize("config", ["text", ["a"], {1: 2}, {"a": object()}, {"a": "x" * 65_536}])
def test_case_140_a_config_that_is_none(config: Any) -> None:
    assert "E-CAP-010" in wrong(config=config)


@pytest.mark.parametrize("key", ["shell", "spawn", "env", "limits", "resources", "containment"])
def test_what_grants_a_hook_nothing_is_said(key: str) -> None:
    assert "W-SEC-006" in wrong({key: {}})


def test_an_unknown_capability() -> None:
    assert "known: network" in wrong({"netwrok": {}})
