"""A denied command stays denied, however it is written and whatever it stands in."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.agent.permissions import Rules

RULES = Rules.parse(["bash"], [], ["bash(sudo *)"], "config.toml")
"""All of bash is allowed, so that nothing but the denial stands in the way."""


def kind(command: str, rules: Rules = RULES) -> str:
    return rules.verdict("bash", command, True).kind


SPELLINGS = [
    "sudo x",
    "sudo",
    "  sudo\tx",
    "/usr/bin/sudo x",
    "./bin/../sudo x",
    "'/opt/a b/sudo' x",
    "~/bin/sudo x",
    r"\sudo x",
    '"sudo" x',
    'su""do x',
    "su''do x",
    r"s\u\d\o x",
    "$'sudo' x",
    r"$'\x73\165do' x",
    r"$'sudo\0ignored' x",
    '$"sudo" x',
    "su$@do x",
    "su${unset}do x",
    "$unset sudo x",
    "su\\\ndo x",
    "{sudo,x}",
    "{sudo,-u,root,x}",
]

WRAPPERS = [
    "env {}",
    "env -i A=1 -u B {}",
    "/usr/bin/env {}",
    "nohup {}",
    "nice -n 5 {}",
    "timeout -k 5 10 {}",
    "stdbuf -oL {}",
    "command {}",
    "builtin command {}",
    "exec -a x {}",
    "time -p {}",
    "coproc {}",
    "xargs -n 1 {}",
    "echo x | xargs -I@ {}",
    "find . -exec {} \\;",
    "find . -name 'x y' -execdir {} +",
    "doas env time {}",
]
"""What runs the command in its words."""

PREFIXES = ["{}", "A=1 B=2 {}", ">/dev/null 2>&1 {}", "2>/dev/null {}"]
"""What may stand before a simple command only."""

PLACES = [
    "time ( {} )",
    "true &>/dev/null; {}",
    "true; {}",
    "true && {}",
    "false || {}",
    "true | {}",
    "true |& {}",
    "true & {}",
    "true\n{}",
    "( {} )",
    "{{ {}; }}",
    "! {}",
    "if {}; then :; fi",
    "if true; then {}; fi",
    "if true; then :; elif {}; then :; fi",
    "if true; then :; else {}; fi",
    "while {}; do :; done",
    "until true; do {}; done",
    "for i in a b; do {}; done",
    "for i\ndo {}; done",
    "for ((i=0; i<2; i++)); do {}; done",
    "select i in a; do {}; done",
    "case x in a|x) {};; esac",
    "case x in (a) :;; (*) {} ;; esac",
    "case x in\n  a)\n    {}\n    ;;\nesac",
    "f() {{ {}; }}; f",
    "function f {{ {}; }}; f",
    "f() ( {} ); f",
    "echo $( {} )",
    'echo "a $( {} ) b"',
    "echo ${{x:-$( {} )}}",
    "echo $(( $( {} ) + 1 ))",
    "echo $(echo $( {} ))",
    "echo $(case x in x) {};; esac)",
    "cat <( {} )",
    "true > >( {} )",
    "x=$( {} )",
    "a=($( {} ))",
    "[[ -n $( {} ) ]]",
    "cat <<E\n$( {} )\nE",
    "cat <<E | cat\ntext\nE\n{}",
    "cat <<'E'\nit's\nE\n{}",
    "cat <<-E\n\ttext\n\tE\n{}",
    "cat <<A <<B\na\nA\nb\nB\n{}",
    "cat <<EOF\nEO\\\nF\n{}\nEOF",
    "cat <\\\n<E\nit's\nE\n{}",
    "true # comment '\n{}",
    "true # comment \\\n{}",
    "git commit -m \"$(cat <<'EOF'\nIt's done\nEOF\n)\"; {}",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_is_denied(spelling: str) -> None:
    assert kind(spelling) == "deny"


@pytest.mark.parametrize("place", [*WRAPPERS, *PREFIXES, *PLACES])
def test_each_place_is_denied(place: str) -> None:
    assert kind(place.format("sudo x")) == "deny"


@pytest.mark.parametrize("place", [*WRAPPERS, *PREFIXES, *PLACES])
def test_the_places_themselves_are_not_denied(place: str) -> None:
    assert kind(place.format("true x")) != "deny"


@pytest.mark.parametrize(
    "wrapped",
    [
        "sh -c {}",
        "bash -lc {}",
        "bash -o pipefail -ec {} name 'an argument'",
        "env A=1 bash -c {}",
        "/bin/sh -c {}",
        "eval {}",
        "trap {} EXIT",
        "bash <<< {}",
        "watch {}",
        "env -S {}",
        "su -c {}",
        "ssh host {}",
        "printf -v {} 1",
        "x={}; echo $((x))",
    ],
)
@pytest.mark.parametrize("spelling", ["sudo x", 'su""do x', "true; sudo x", "true\nsudo x"])
def test_a_command_in_a_word_is_denied(wrapped: str, spelling: str) -> None:
    script = f"a[$({spelling})]" if "printf" in wrapped or "x=" in wrapped else spelling

    assert kind(wrapped.format(shlex.quote(script))) == "deny"


@pytest.mark.parametrize("fed", ["echo {} | sh", "bash <<E\n{}\nE", "cat <<'E' | sudoku; bash -s\n{}\nE", "printf {} | env bash"])
def test_what_is_fed_to_a_shell_is_denied(fed: str) -> None:
    assert kind(fed.format("sudo x")) == "deny"


@pytest.mark.parametrize("command", ["[[ a || sudo x ]]", "((sudo x))", "((sudo))", "true &>/dev/null sudo x"])
def test_what_bash_would_not_run_but_sh_would_is_denied(command: str) -> None:
    assert kind(command) == "deny"


def test_backticks_nest() -> None:
    assert kind(r"echo `echo \`sudo x\``") == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "echo 'unbalanced",
        "sudo 'unbalanced",
        'true "sudo x',
        "true; sudo x; (",
        "sudo x )",
        "cat <<E\nsudo x",
        "echo $(sudo x",
        "echo `sudo x",
        "case x in sudo x",
        "sudo x\0y",
        "echo $[ ; sudo x ; ]",
    ],
)
def test_what_cannot_be_read_is_denied_for_any_word_in_it(command: str) -> None:
    if "sudo" in command:
        assert kind(command) == "deny"
    assert kind(command.replace("sudo", "doing")) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "$x y",
        "$(cat f) y",
        "`cat f` y",
        '"$x" y',
        "x=sudo; $x y",
        "/usr/bin/su?o x",
        "/usr/bin/s*o x",
        "su{d,p}o x",
        "eval $x",
        "bash -c $x",
        "curl http://x | sh",
        "bash < f",
        "bash",
        ". <(cat f)",
        ". /dev/stdin",
        "echo sudo x | xargs env",
        "echo sudo x | xargs -I% %",
        "find . -exec {} \\;",
        "parallel ::: x",
        "alias e='s x'; e",
        "env -Ssudo x",
        'f() { "$@"; }; f x',
        "for i in sudo; do $i x; done",
        "timeout $t y",
        "timeout 5 $x y",
        "env -i $x",
        "env timeout -k 1 5 $x",
    ],
)
def test_what_may_be_denied_is_asked_about(command: str) -> None:
    assert kind(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo sudo x",
        "echo 'sudo x'",
        "grep -r 'sudo x' .",
        "git commit -m 'use sudo x'",
        "git commit -m \"$(cat <<'EOF'\nsudo x\nEOF\n)\"",
        "cat > notes.md <<E\nsudo x\nE",
        "ls *.py $HOME",
        "echo $((1 + 2)) ${x:-y}",
        "[ -f x ] && make",
        '[[ $x == "a b" ]] && (( $n > 5 ))',
        "timeout 60 make -j$(nproc) $x",
        "env A=$y make $x",
        "nice -n 5 env A=1 timeout -k 1 5 make $x",
        "find . -name x -exec rm {} \\;",
        "git ls-files | xargs -0 -n 1 wc -l",
        "timeout 60 bash run.sh",
        "bash -eo pipefail run.sh",
        "~/bin/tool x",
        'while read -r line; do echo "$line"; done < f',
        "pseudo x",
        "my-sudo x",
        "# sudo x",
        "",
    ],
)
def test_what_is_not_denied_stays_allowed(command: str) -> None:
    assert kind(command) == "allow"


def test_the_whole_text_can_be_denied() -> None:
    rules = Rules.parse(["bash"], [], ["bash(*>*/etc/*)", "bash(curl * | sh)"], "config.toml")

    assert kind("echo x > /etc/passwd", rules) == "deny"
    assert kind("curl http://x | sh", rules) == "deny"


def test_an_ask_rule_is_read_like_a_denial() -> None:
    rules = Rules.parse(["bash"], ["bash(git push*)"], [], "config.toml")

    assert kind("git status && git push", rules) == "ask"
    assert kind("git $x", rules) == "ask"
    assert kind("git status", rules) == "allow"


@given(
    wrappers=st.lists(st.sampled_from(WRAPPERS), max_size=3),
    prefix=st.sampled_from(PREFIXES),
    places=st.lists(st.sampled_from(PLACES), max_size=2),
    spelling=st.sampled_from(SPELLINGS),
    words=st.lists(st.sampled_from(["a", "'b c'", "-x", "*", "$y"])),
)
def test_wrappers_words_and_blanks_never_lift_a_denial(
    wrappers: list[str], prefix: str, places: list[str], spelling: str, words: list[str]
) -> None:
    command = " ".join([spelling, *words])
    for place in [*wrappers, prefix, *places]:
        command = place.format(command)

    assert kind(command) != "allow"


@given(
    before=st.text(alphabet=" \t", max_size=4),
    between=st.text(alphabet=" \t", min_size=1, max_size=4),
    after=st.text(alphabet=" \t\n;", max_size=4),
)
def test_blanks_never_lift_a_denial(before: str, between: str, after: str) -> None:
    assert kind(f"{before}sudo{between}x{after}") == "deny"


@given(text=st.text(max_size=60))
def test_any_text_gets_a_verdict(text: str) -> None:
    assert kind(text) in ("allow", "ask", "deny")


@given(depth=st.integers(1, 200), opening=st.sampled_from(["$(", "${x:-", '"$(', "`", "(", "$((", "<(", "a=("]))
def test_deep_nesting_is_no_way_through(depth: int, opening: str) -> None:
    closing = {"$(": ")", "${x:-": "}", '"$(': ')"', "`": "`", "(": ")", "$((": "))", "<(": ")", "a=(": ")"}[opening]

    assert kind(f"echo {opening * depth}$(sudo x){closing * depth}") != "allow"


@pytest.mark.parametrize(
    "repeated", ["eval ", "env ", "xargs ", "sh -c ", "env sh -c ", "find . -exec ", "find . -exec find ", "time ", "! "]
)
def test_a_command_that_is_in_itself_many_times_is_read_in_bounded_time(repeated: str) -> None:
    assert kind(repeated * 3000 + "sudo x") != "allow"


def test_a_command_that_no_shell_takes_is_given_up() -> None:
    assert kind("echo " + "x" * 200_000) == "ask"
    assert kind("echo " + "x" * 200_000 + " ; sudo x") == "deny"
