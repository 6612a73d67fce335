"""Commands that hide where a reader of shell may look away: no allow rule covers them, and no denial misses them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.needs import needs
from treblehook.agent.permissions import Rules

ALLOWED = Rules.parse(["bash(cat*)", "bash(ls*)", "bash(echo *)"], [], [], "config.toml")
DENIED = Rules.parse(["bash"], [], ["bash(touch *)"], "config.toml")

CONTINUED_END = "# \\\ncat <<ls\nls x\\\nls\necho '$(touch mark)'\nls"
"""The second `ls` belongs to the line before it, so the here-document goes on, and runs what the quotes seem to hold. A reader
that joins all continued lines takes the here-document's beginning for a part of the comment."""

HIDDEN = [
    CONTINUED_END,
    CONTINUED_END.replace("ls\necho", "\tls\necho").replace("<<", "<<-"),
    "for x in 'a[$(touch mark)]'; do case $((x)) in *) echo hi;; esac; done",
    "for x in 'a[$(touch mark)]'; do cat <<E\n$((x))\nE\ndone",
    "for x in 'a[$(touch mark)]'; do cat <<E\n${PATH:x}\nE\ndone",
    "for x in 'a[$(touch mark)]'; do for y in $((x)); do echo hi; done; done",
    "for x in 'a[`touch mark`]'; do cat <<< $((x)); done",
    "for x in '$(touch mark)'; do cat <<E\n${x@P}\nE\ndone",
    "for x in '\\044(touch mark)'; do cat <<E\n${x@P}\nE\ndone",
    "for x in '\\044(touch mark)'; do case ${x@P} in *) echo hi;; esac; done",
]


@pytest.mark.parametrize("command", HIDDEN)
@needs("bash")
def test_what_is_run_for_a_word_of_no_command_is_not_allowed(command: str, tmp_path: Path) -> None:
    assert _ran("bash", command, tmp_path)
    assert ALLOWED.verdict("bash", command, True).kind == "ask"


@pytest.mark.parametrize("command", HIDDEN)
def test_what_is_run_for_a_word_of_no_command_is_denied_or_asked(command: str) -> None:
    assert DENIED.verdict("bash", command, True).kind in ("deny", "ask")


@needs("dash")
def test_quotes_that_sh_reads_as_plain_ones_hide_nothing(tmp_path: Path) -> None:
    command = "echo $'\\'; touch mark #'"
    assert _ran("dash", command, tmp_path)
    assert ALLOWED.verdict("bash", command, True).kind == "ask"
    assert DENIED.verdict("bash", command, True).kind == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "set -- '$(touch mark)'; echo ${1@P}",
        "git -c alias.x='!touch mark' x",
        "git -C . -c core.pager='touch mark' log",
        "hash -p /usr/bin/touch tidy; tidy mark",
        "env git -c alias.x='!touch mark' x",
    ],
)
def test_a_denied_program_under_another_name_is_not_allowed(command: str) -> None:
    assert DENIED.verdict("bash", command, True).kind in ("deny", "ask")


@pytest.mark.parametrize(
    "command",
    [
        "cat <<E\na\\\nb\nE",
        "cat <<'E'\nx\\\ny\nE",
        "for f in a b; do echo $f; done",
        "echo $'it is'",
        "case $x in a) ls;; esac",
        "cat <<E\n$HOME ${HOME}\nE",
    ],
)
def test_what_hides_nothing_is_allowed_as_before(command: str) -> None:
    assert ALLOWED.verdict("bash", command, True).kind == "allow"
    assert DENIED.verdict("bash", command, True).kind == "allow"


def _ran(shell: str, command: str, folder: Path) -> bool:
    """Whether `shell` made the mark."""
    program = shutil.which(shell)
    assert program is not None
    subprocess.run([program, "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    return (folder / "mark").exists()
