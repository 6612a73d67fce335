"""Rules as a user writes them, and which of them wins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.agent.permissions import Rules
from treblehook.host.permission import Verdict
from treblehook.host.problems import ConfigInvalid

ENTRIES = st.lists(st.sampled_from(["read", "read(a*)", "read(*b)", "re*", "*", "write", "mcp__*"]), max_size=4)


def rules(*, allow: list[str] | None = None, ask: list[str] | None = None, deny: list[str] | None = None) -> Rules:
    return Rules.parse(allow or [], ask or [], deny or [], "config.toml")


@pytest.mark.parametrize("asks", [True, False])
def test_without_a_rule_a_tool_that_asks_is_asked_about(asks: bool) -> None:
    assert rules(allow=["read(a)"]).verdict("write", "a", asks) == Verdict("ask" if asks else "allow")


@given(allow=ENTRIES, ask=ENTRIES, deny=ENTRIES, argument=st.sampled_from(["a", "ab", "b", "", None]), asks=st.booleans())
def test_deny_beats_ask_beats_allow(allow: list[str], ask: list[str], deny: list[str], argument: str | None, asks: bool) -> None:
    def speaks(kind: str, entries: list[str]) -> bool:
        return (
            Rules.parse(**{"allow": [], "ask": [], "deny": [], kind: entries}, file="c").verdict("read", argument, False).rule is not None
        )

    expected = "ask" if asks else "allow"
    for kind, entries in (("allow", allow), ("ask", ask), ("deny", deny)):
        if speaks(kind, entries):
            expected = kind

    verdict = rules(allow=allow, ask=ask, deny=deny).verdict("read", argument, asks)

    assert verdict.kind == expected
    assert verdict.rule is None or verdict.rule in [*allow, *ask, *deny]


@given(allow=ENTRIES, ask=ENTRIES, deny=ENTRIES, more=st.sampled_from(["read", "read(a*)", "*"]))
def test_more_allowance_never_lifts_a_denial(allow: list[str], ask: list[str], deny: list[str], more: str) -> None:
    before = rules(allow=allow, ask=ask, deny=deny).verdict("read", "ab", True)
    after = rules(allow=[*allow, more], ask=ask, deny=deny).verdict("read", "ab", True)

    assert after.kind == before.kind or (before.kind, after.kind) == ("ask", "allow")
    assert before.kind != "deny" or after.kind == "deny"


def test_the_verdict_names_the_rule() -> None:
    assert rules(deny=["write", "read(*/.ssh/*)"]).verdict("read", "/home/u/.ssh/id", False) == Verdict("deny", "read(*/.ssh/*)")


def test_the_tool_may_be_a_glob() -> None:
    files = rules(allow=["mcp__files__*"], deny=["mcp__*__delete"])

    assert files.verdict("mcp__files__read", None, True) == Verdict("allow", "mcp__files__*")
    assert files.verdict("mcp__files__delete", None, True) == Verdict("deny", "mcp__*__delete")
    assert files.verdict("mcp__other__read", None, True) == Verdict("ask")


def test_the_case_of_a_tool_does_not_count() -> None:
    assert rules(deny=["Bash(sudo *)"]).verdict("bash", "sudo x", True).kind == "deny"


def test_a_rule_with_a_pattern_says_nothing_of_a_call_without_the_argument() -> None:
    assert rules(deny=["read(*x*)"], allow=["read(*x*)"]).verdict("read", None, True) == Verdict("ask")


@pytest.mark.parametrize("entry", ["bash(*)", "bash(**)", " bash "])
def test_a_pattern_that_is_everything_is_no_pattern(entry: str) -> None:
    assert rules(deny=[entry]).verdict("bash", None, True).kind == "deny"
    assert rules(allow=[entry]).verdict("bash", "echo $(x) > f", True).kind == "allow"


def test_parentheses_in_a_pattern_are_its_own() -> None:
    assert rules(deny=["grep(f(x) and (y))"]).verdict("grep", "f(x) and (y)", False).kind == "deny"


@pytest.mark.parametrize("entry", ["", "bash(", "bash()", "bash)", "(sudo)", "ba sh", "bash(x) y", 5, None, ["bash"]])
def test_an_entry_that_is_no_rule_is_named(entry: object) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        Rules.parse(["read"], [entry], ["read", "write", entry], "config.toml")

    assert [problem.place for problem in caught.value.problems] == ["permissions.ask[0]", "permissions.deny[2]"]
    problem = caught.value.problems[1]
    assert problem.file == "config.toml"
    assert repr(entry) in problem.message
    assert "TOOL(glob" in problem.remedy
