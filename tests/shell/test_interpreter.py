"""The interpreter form of a command (murmur.md 3.5, 5.6)."""

from pathlib import Path

from treblehook.lifecycle import PreparedCall
from treblehook.shell import prepare_interpreter


def shells(folder: Path, *names: str) -> str:
    for name in names:
        file = folder / f"{name}-5.2"
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
        (folder / name).symlink_to(file)
    return str(folder)


def test_bash_by_its_canonical_path(tmp_path: Path) -> None:
    prepared = prepare_interpreter("echo 'a  b' | wc", tool="bash", search_path=shells(tmp_path, "sh", "bash"))

    assert prepared == PreparedCall(
        tool="bash",
        command="echo 'a  b' | wc",
        executable=str(tmp_path / "bash-5.2"),
        argv=("-c", "echo 'a  b' | wc"),
        script="echo 'a  b' | wc",
        recipe=None,
    )


def test_sh_where_there_is_no_bash(tmp_path: Path) -> None:
    assert prepare_interpreter("ls", tool="bash", search_path=shells(tmp_path, "sh")).executable == str(tmp_path / "sh-5.2")


def test_bash_from_a_later_folder_comes_before_sh_from_an_earlier_one(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    search_path = f"{shells(one, 'sh')}:{shells(two, 'bash')}"

    assert prepare_interpreter("ls", tool="bash", search_path=search_path).executable == str(two / "bash-5.2")


def test_the_bare_name_where_nothing_resolves() -> None:
    assert prepare_interpreter("ls", tool="bash", search_path="/nowhere").executable == "sh"


def test_the_command_is_trimmed_and_otherwise_untouched(tmp_path: Path) -> None:
    command = "cat <<'E'\n  $HOME  \nE\n" + "x" * 10_000
    prepared = prepare_interpreter(f" \n{command}\t ", tool="bash", search_path=shells(tmp_path, "bash"))

    assert prepared.script == prepared.command == prepared.argv[1] == command
