"""What the rules say of a command line, beside what a real bash does with it."""

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.needs import needs
from treblehook.agent.permissions import Rules

pytestmark = needs("bash", "env", "xargs", "nohup", "cat")

DENIED = Rules.parse(["bash"], [], ["bash(probe *)"], "config.toml")
ALLOWED = Rules.parse(["bash(echo*)", "bash(true*)", "bash(cat*)", "bash(printf *)", "bash([[ *)"], [], [], "config.toml")

# No piece holds a slash but this one, which is written out last and in one piece: nothing outside the test's own folder is written.
NOWHERE, WRITTEN_OUT = "\ue000", ">/dev/null "
PIECES = [
    *["probe"] * 8,
    *["echo x", "true", "echo", "cat "] * 2,
    *["pro", "be", "x", "env ", "sh ", "bash ", "-c ", "eval ", "xargs ", "nohup ", "exec ", "command ", "time ", "coproc ", "! "],
    *["'", '"', "\\", "`", "$(", ")", "(", "{ ", "}", "$((", "))", "((", "<(", "${x:-", "$x", "$@", "$'", '$"', "\\x70robe", "a=("],
    *["; ", ";;", " & ", " && ", " | ", " || ", "\n", " ", "\t", " # ", "\\\n", "pro{be,", "p?obe", "x=", "=", "'probe x'"],
    *["<<E\n", "\nE\n", "<<'E'\n", "<<-E\n", "<<<", NOWHERE, "2>&1", f"&{NOWHERE}", "> out"],
    *["case x in ", " esac", "*) ", "if ", "; then ", "; fi", "for i in ", "; do ", "; done", "f() ", "function f ", "[[ ", " ]]"],
]


@st.composite
def commands(draw: st.DrawFn, depth: int = 0) -> str:
    """A command that bash can mostly read."""
    if depth > 3 or draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from(["probe x", "pr''obe", "probe", "echo x", "echo probe", "true", "$'probe' y", "p\\robe"]))
    one, other = draw(commands(depth + 1)), draw(commands(depth + 1))
    places = [
        f"$({one})", f"`{one}`", f'"$({one})"', f"({one})", f"{{ {one}; }}", f"{one}; {other}", f"{one} && {other}", f"{one} | {other}",
        f"{one} & {other}", f"{one}\n{other}", f"if {one}; then {other}; fi", f"for i in a probe; do {one}; $i; done",
        f"case x in y) {one};; *) {other};; esac", f"env A=1 {one}", f"nohup {one}", f"echo x | xargs {one}",
        f"sh -c {shlex.quote(one)}", f"bash -ec {shlex.quote(one)}", f"eval {shlex.quote(one)}", f"x=probe {one}", f"{NOWHERE}{one}",
        f"! {one}", f"time {one}", f"cat <<E\n{one}\nE\n{other}", f"bash <<'E'\n{one}\nE", f"cat <({one})", f"f() {{ {one}; }}; f",
        f"echo {shlex.quote(one)} | sh", f"[[ -n $({one}) ]]", f"a=({one}); {other}", f"echo ${{x:-$({one})}} # {other}",
    ]  # fmt: skip
    return draw(st.sampled_from(places))


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A command with something put into it somewhere, or nothing but pieces."""
    if draw(st.booleans()):
        return "".join(draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12))).replace(NOWHERE, WRITTEN_OUT)
    text = draw(commands())
    for piece in draw(st.lists(st.sampled_from(PIECES), max_size=2)):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + piece + text[place:]
    return text.replace(NOWHERE, WRITTEN_OUT)


class Yard:
    """A folder in which a command runs with harmless programs only, one of which leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self._programs = folder / "programs"
        self._work = folder / "work"
        self._mark = folder / "mark"
        self._programs.mkdir()
        self._work.mkdir()
        for name in ("env", "xargs", "nohup", "sh", "bash", "cat"):
            (self._programs / name).symlink_to(shutil.which(name) or name)
        probe = self._programs / "probe"
        probe.write_text(f"#!/bin/sh\n: > {shlex.quote(str(self._mark))}\n")
        probe.chmod(0o755)

    def wrote(self) -> bool:
        """Whether the last command left a file."""
        return any(self._work.iterdir())

    def probed(self, command: str) -> bool:
        """Whether running `command` ran the program `probe`."""
        self._mark.unlink(missing_ok=True)
        shutil.rmtree(self._work)
        self._work.mkdir()
        # A function that calls itself ends; what waits for anything is killed.
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self._work,
            env={"PATH": str(self._programs), "FUNCNEST": "20"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return self._mark.exists()


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


MANY = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def test_the_yard_sees_what_runs(yard: Yard) -> None:
    assert yard.probed("probe x")
    assert not yard.wrote()
    assert not yard.probed("echo probe > f")
    assert yard.wrote()


@MANY
@given(line=lines())
def test_what_runs_a_denied_program_is_not_allowed(yard: Yard, line: str) -> None:
    if DENIED.verdict("bash", line, True).kind == "allow":
        assert not yard.probed(line)


@MANY
@given(line=lines())
def test_what_patterns_allow_runs_nothing_else(yard: Yard, line: str) -> None:
    if ALLOWED.verdict("bash", line, True).kind == "allow":
        assert not yard.probed(line)
        assert not yard.wrote()
