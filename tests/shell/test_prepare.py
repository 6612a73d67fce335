"""A command of a shell tool, resolved once (murmur.md 5.6, cases 89, 90, 113)."""

from pathlib import Path

import pytest

from treblehook.shell import prepare_command


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "echo", "just", "make"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return {"PATH": str(folder)}


def test_case_090_an_interpreter_gets_a_script(tmp_path: Path, environ: dict[str, str]) -> None:
    prepared = prepare_command("  echo 'a' | wc ", tool="bash", cwd=tmp_path, environ=environ)

    assert prepared.argv == ("-c", "echo 'a' | wc")
    assert prepared.script == prepared.command == "echo 'a' | wc"
    assert prepared.recipe is None
    assert prepared.executable == str(tmp_path / "bin" / "bash")


def test_case_089_nothing_is_cut(tmp_path: Path, environ: dict[str, str]) -> None:
    script = "x" * 300

    assert prepare_command(script, tool="bash", cwd=tmp_path, environ=environ).argv[1] == script


def test_any_other_program_gets_words_without_its_name(tmp_path: Path, environ: dict[str, str]) -> None:
    prepared = prepare_command("'a b' c", tool="echo", cwd=tmp_path, environ=environ)

    assert (prepared.argv, prepared.script, prepared.recipe) == (("a b", "c"), None, None)


def test_case_113_only_the_runner_itself_has_a_recipe(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "justfile").write_text("build:\n    cc a.c\n")
    (tmp_path / "Makefile").write_text("build:\n\tcc a.c\n")

    def recipe(tool: str, command: str) -> str | None:
        return prepare_command(command, tool=tool, cwd=tmp_path, environ=environ).recipe

    assert recipe("just", "build") == "cc a.c"
    assert recipe("make", "build") == "cc a.c"
    assert recipe("bash", "just build") is None
    assert recipe("gmake", "build") is None


def test_the_bare_name_where_nothing_is_found(tmp_path: Path, environ: dict[str, str]) -> None:
    assert prepare_command("build", tool="npm", cwd=tmp_path, environ=environ).executable == "npm"
