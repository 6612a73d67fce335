"""`treblehook hooks check` on config.toml: rules about no tool, servers that are not there, a model that does not open."""

import pytest

from tests.support.command_home import CommandHome

SERVER = '[mcp."my search"]\nurl = "http://127.0.0.1:1/mcp"\n'


@pytest.mark.parametrize(
    "rule",
    ["bash", "Bash(rm *)", "*", "r?ad", "agent", "mcp__*", "mcp__my_search__find", "mcp__my_*__find(x)", "MCP__my_search__*", "*find"],
)
def test_a_rule_that_may_meet_a_tool_is_fine(home: CommandHome, rule: str) -> None:
    home.settings(f'{SERVER}[permissions]\ndeny = ["{rule}"]\n')

    assert home.found() == []


@pytest.mark.parametrize(
    ("rule", "remedy"),
    [
        ("bsh(rm *)", "did you mean bash?"),
        ("MultiEdit", "did you mean edit?"),
        ("mcp__my_serch__find", "did you mean mcp__my_search__find?"),
        ("MCP__my_serch__find", "did you mean mcp__my_search__find?"),
        ("mcp__my_serch", "did you mean mcp__my_search__*?"),
        ("WebFetch", "tools here: bash, read, write, edit, glob, grep, agent, mcp__my_search__*"),
        ("mcp__other__*", "tools here: bash, read, write, edit, glob, grep, agent, mcp__my_search__*"),
    ],
)
def test_a_rule_that_meets_no_tool_is_a_warning_with_the_nearest_name(home: CommandHome, rule: str, remedy: str) -> None:
    home.settings(f'{SERVER}[permissions]\nallow = ["read"]\ndeny = ["bash(x)", "{rule}"]\n')

    problem = home.only_problem()

    assert (problem["file"], problem["place"], problem["level"]) == (str(home.folder / "config.toml"), "permissions.deny[1]", "warning")
    assert problem["message"] == f"found {rule!r}, which is about no tool: it never holds"
    assert problem["remedy"] == remedy


def test_a_server_whose_program_is_not_on_path_is_a_warning(home: CommandHome) -> None:
    home.settings(
        '[mcp.here]\ncommand = ["sh", "-c", "true"]\n'
        '[mcp.gone]\ncommand = ["no-such-program"]\n'
        '[mcp."a.b"]\ncommand = ["/no/such/program"]\n'
        '[mcp.own]\ncommand = ["sh"]\nenv = { PATH = "/nowhere" }\n'
    )

    problems = home.found()

    assert [(p["place"], p["level"]) for p in problems] == [
        ("mcp.gone.command[0]", "warning"),
        ('mcp."a.b".command[0]', "warning"),
        ("mcp.own.command[0]", "warning"),
    ]
    assert problems[0]["message"] == "found 'no-such-program', which is not on PATH: the server will not start"
    assert problems[1]["message"] == "found '/no/such/program', which is no program: the server will not start"
    assert problems[2]["message"] == "found 'sh', which is not on the PATH in its env: the server will not start"


@pytest.mark.parametrize("spec", ["oracle:x", "anthropic:", "gpt"])
def test_a_default_model_that_does_not_open_is_an_error(home: CommandHome, spec: str) -> None:
    home.settings(f'[model]\ndefault = "{spec}"\n')

    run = home.run("hooks", "check", "--output", "jsonl")

    assert run.status == 2
    [problem] = run.records
    assert (problem["file"], problem["place"], problem["level"]) == (str(home.folder / "config.toml"), "model.default", "error")
    assert problem["message"].startswith(f"model {spec!r}: ")


def test_a_default_model_that_opens_is_fine(home: CommandHome) -> None:
    (home.folder / "script.json").write_text('[{"text": "Done."}]')
    home.settings(f'[model]\ndefault = "script:{home.folder}/script.json"\n')

    assert home.found() == []


def test_settings_are_looked_at_where_the_hooks_do_not_load(home: CommandHome) -> None:
    home.config.write_text("{")
    home.settings('[model]\ndefault = "oracle:x"\n[permissions]\ndeny = ["bsh"]\n')

    assert [p["place"] for p in home.found()] == ["line 1, column 2", "permissions.deny[0]", "model.default"]
