"""A patch that is typed into a shell is judged as one wherever Codex (0.171.0) was seen to apply it itself, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.gateway.agents.codex import Codex
from treblehook.gateway.codec import PayloadInvalid
from treblehook.gateway.typed_patch import typed_calls
from treblehook.gateway.values import CallComing, RunRewritten
from treblehook.lifecycle import ToolCall

PATCH = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** Delete File: /etc/passwd\n*** End Patch"


def touched(command: str) -> list[tuple[str, str]]:
    return [(call.name, call.input["path"]) for call in typed_calls(command, "c1", "/w", "tool_input.command")]


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        (f"apply_patch <<'EOF'\n{PATCH}\nEOF", "/w"),
        (f'applypatch <<"EOF"\n{PATCH}\nEOF\n', "/w"),
        (f"  apply_patch   <<   EOF\n{PATCH}\nEOF\n\n", "/w"),
        (f"apply_patch <<'END-PATCH'\n{PATCH}\nEND-PATCH", "/w"),
        (f"cd sub && apply_patch <<'EOF'\n{PATCH}\nEOF", "/w/sub"),
        (f"cd /tmp &&\napply_patch <<'EOF'\n{PATCH}\nEOF", "/tmp"),
        (f"cd 'sub dir' && apply_patch <<'EOF'\n{PATCH}\nEOF", "/w/sub dir"),
        (f"cd \"sub dir\" && apply_patch <<'EOF'\n{PATCH}\nEOF", "/w/sub dir"),
    ],
)
def test_what_codex_applies_itself_is_a_call_for_every_file(command: str, folder: str) -> None:
    assert touched(command) == [("write", f"{folder}/new.txt"), ("write", "/etc/passwd")]


@pytest.mark.parametrize(
    "command",
    [
        # These Codex applies itself too, and reads in its own ways.
        f"FOO=1 apply_patch <<EOF\n{PATCH}\nEOF",
        f"apply_patch <<-EOF\n{PATCH}\nEOF",
        f"apply_patch \\\n<<EOF\n{PATCH}\nEOF",
        f"apply_patch <<\\EOF\n{PATCH}\nEOF",
        f"cd sub\\ dir && apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"cd ~ && apply_patch <<'EOF'\n{PATCH}\nEOF",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add file: a\n*** End Patch\nEOF",
        f"apply_patch <<EOF\n$(echo '{PATCH}')\nEOF",
        # These go to the shell, which may have a program of that name.
        f"true; apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"apply_patch <<'EOF' && echo hi\n{PATCH}\nEOF",
        f"apply_patch <<'EOF'\n{PATCH}\nEOF\nrm x",
        f"cd $HOME && apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"bash -lc \"apply_patch <<'EOF'\n{PATCH}\nEOF\n\"",
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(command: str) -> None:
    with pytest.raises(PayloadInvalid):
        touched(command)


@pytest.mark.parametrize("command", ["ls", "apply_patch --help", "apply_patch <<EOF\nx\nEOF", "grep -rn '*** Begin Patch' src", ""])
def test_any_other_command_is_a_command(command: str) -> None:
    assert touched(command) == []


@given(
    st.text()
    | st.text(alphabet="apply_tch <\n'E")
    | st.sampled_from(["apply_patch " * 50_000, "apply_patch" + " " * 100_000, "\nEOF" * 50_000])
)
def test_no_command_takes_long_or_fails(text: str) -> None:
    for command in (text, f"{text}apply_patch <<'EOF'\n{PATCH}\nEOF{text}", f"apply_patch <<'EOF'\n*** Begin Patch\n{text}\nEOF"):
        try:
            touched(command)
        except PayloadInvalid:
            continue


def coming(command: str, tool: str = "Bash", folder: str = "/w") -> CallComing:
    payload = {"session_id": "s", "cwd": folder, "tool_name": tool, "tool_input": {"command": command}, "tool_use_id": "c1"}
    what = Codex().decode("PreToolUse", payload).what
    assert isinstance(what, CallComing)
    return what


def test_codex_is_asked_about_the_command_and_about_its_files_in_the_folder_of_the_call() -> None:
    command = f"cd sub && apply_patch <<'EOF'\n{PATCH}\nEOF"
    what = coming(command, folder="/tmp")
    assert what.call == ToolCall("c1", "bash", {"command": command})
    assert [(call.id, call.input["path"]) for call in what.more] == [("c1-patch-1", "/tmp/sub/new.txt"), ("c1-patch-2", "/etc/passwd")]


def test_a_command_that_holds_a_patch_is_not_rewritten() -> None:
    payload = {"session_id": "s", "cwd": "/w", "tool_name": "Bash", "tool_input": {"command": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}}
    said = Codex().encode(Codex().decode("PreToolUse", payload), RunRewritten({"command": "ls"}))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("tool", ["Bash", "shell", "shell_command", "local_shell", "exec_command"])
def test_a_shell_of_codex_is_bash_whatever_its_name(tool: str) -> None:
    assert coming("ls", tool).call == ToolCall("c1", "bash", {"command": "ls"})
