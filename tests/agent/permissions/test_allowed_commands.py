"""An allow rule with a pattern holds only where all of a command is in sight."""

import pytest

from treblehook.agent.permissions import Rules
from treblehook.host.permission import Verdict

RULES = Rules.parse(["bash(git status*)", "bash(git add *)", "bash(ls *)", "bash(make)", "bash(time *)", "bash(bash *)"], [], [], "c")


def verdict(command: str) -> Verdict:
    return RULES.verdict("bash", command, True)


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        " git   status\t-s ",
        "git status && ls -la",
        "git status; make",
        "git status | ls -",
        "git status\nmake\n",
        "git status & ",
        "(git status)",
        "{ make; }",
        "! git status",
        "if git status; then make; else ls x; fi",
        "for f in a b; do git add $f; done",
        "while make; do ls -; done",
        "case $x in a) make;; esac",
        "time make",
        "ls *.py",
        "ls $HOME ${x} ~",
        "ls 'a; rm b' \"c && d\"",
        "git status # ; rm x",
        "git \\\n  status",
        "git status 2>&1",
        "git status 2>/dev/null >/dev/null",
        "git status <<< x",
        "ls - <<'E'\n$(rm x)\nE",
    ],
)
def test_what_is_covered_is_allowed(command: str) -> None:
    assert verdict(command).kind == "allow"


def test_the_verdict_names_each_rule_that_was_needed() -> None:
    assert verdict("git status && make && git status -s").rule == "bash(git status*), bash(make)"


@pytest.mark.parametrize(
    "command",
    [
        "",
        "# nothing",
        "git push",
        "git status; rm x",
        "git status && rm x",
        "git status || rm x",
        "git status | rm x",
        "git status & rm x",
        "git status\nrm x",
        "git status # \\\nrm x",
        "git status $(rm x)",
        'git status "$(rm x)"',
        "git status `rm x`",
        "git status <(rm x)",
        "git status ${x:-$(rm x)}",
        "git status ${x@P}",
        "git status $((x))",
        "ls - <<E\n$(rm x)\nE",
        "git status > f",
        "git status >> f",
        "git status 2> f",
        "git status &> f",
        "git status >| f",
        "git status < f",
        "git status <> f",
        "make; > f",
        "{ make; } > f",
        "PATH=/tmp git status",
        "X=1; git status",
        "for PATH in /tmp; do git status; done",
        "git() { rm x; }; git status",
        "function git { rm x; }; git status",
        "coproc git status",
        'g"it" status',
        "git 'status'",
        "\\git status",
        "'git status'",
        "$git status",
        "{git,status}",
        "./git status",
        "/usr/bin/git status",
        "env git status",
        "eval git status",
        "eval 'git status'",
        "sh -c 'git status'",
        "bash -c 'git status'",
        "bash -s x",
        "bash",
        "bash <<E\ngit status\nE",
        "ls x | bash -",
        "((make))",
        "if git status; then rm x; fi",
        "for f in $(rm x); do git add $f; done",
        "for f in a b; do $f add x; done",
        "git status 'unbalanced",
        "git status )",
        "ls &>f rm",
        "true &>f\nmake",
    ],
)
def test_what_is_not_covered_is_asked_about(command: str) -> None:
    assert verdict(command) == Verdict("ask")


def test_a_builtin_that_expands_a_quoted_word_is_not_covered() -> None:
    rules = Rules.parse(["bash(printf *)", "bash([ *)"], [], [], "c")

    assert rules.verdict("bash", "printf '%s' x", True).kind == "allow"
    assert rules.verdict("bash", "[ -f x ]", True).kind == "allow"
    assert rules.verdict("bash", "printf -v 'a[$(rm x)]' 1", True).kind == "ask"
    assert rules.verdict("bash", "[ -v 'a[`rm x`]' ]", True).kind == "ask"


def test_find_is_covered_but_not_what_it_runs() -> None:
    rules = Rules.parse(["bash(find *)"], [], [], "c")

    assert rules.verdict("bash", "find . -name x", True).kind == "allow"
    assert rules.verdict("bash", "find . -exec rm {} +", True).kind == "ask"


def test_an_allowance_does_not_hold_where_a_denial_might() -> None:
    rules = Rules.parse(["bash(git *)"], [], ["bash(git push*)"], "c")

    assert rules.verdict("bash", "git log", True).kind == "allow"
    assert rules.verdict("bash", "git $x", True) == Verdict("ask", "bash(git push*)")
    assert rules.verdict("bash", "git log $x", True).kind == "allow"


@pytest.mark.parametrize("name", ["$x", "r''m", "r*", "~/rm", "{rm,-rf}"])
def test_a_name_that_is_not_in_sight_is_not_covered(name: str) -> None:
    rules = Rules.parse(["bash(* --version)"], [], [], "c")

    assert rules.verdict("bash", "rm --version", True).kind == "allow"
    assert rules.verdict("bash", f"{name} --version", True).kind == "ask"


def test_a_wrapper_that_is_covered_is_so_with_all_of_its_words() -> None:
    rules = Rules.parse(["bash(timeout *)"], [], [], "c")

    assert rules.verdict("bash", 'timeout 60 pytest -k "a or b > c"', True).kind == "allow"
    assert rules.verdict("bash", "timeout 60 bash -c 'a > b'", True).kind == "ask"
