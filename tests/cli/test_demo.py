"""`treblehook demo`: real executables, a scripted model, and who decided what."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.support.command_run import COMMAND, Stage
from tests.support.terminal import Terminal


def test_the_demo_shows_each_kind_of_decision(stage: Stage) -> None:
    ran = stage.bare("demo", TMPDIR=str(stage.folder))

    assert ran.status == 0, ran
    assert "Traceback" not in ran.err
    for line in (
        "· remember added context",
        "> bash: rm chest.txt\n  not run: Leave the treasure where it is.",
        "> bash: ls -R .\n",
        "> bash: date\n  not run, replaced: two hours after high tide\n",
        "> bash: mv log.txt chest.txt\n  not run: The policy protect-shell refused this call: protect-shell: chest.txt is protected",
        "Done. The treasure is under the third palm.\n· map-check continued the turn\nDone. Here is the map:",
    ):
        assert line in ran.out
    assert "CROW-7731" not in ran.out
    rows = [re.split(r" {2,}", line) for line in ran.out.split("Who decided what:\n\n")[1].splitlines()]
    assert rows[0] == ["event", "hook", "about", "decision", "ms"]
    decided = {(row[1], row[-2]) for row in rows[1:]}
    assert decided >= {
        ("remember", "add_context"),
        ("guard", "block: Leave the treasure where it is."),
        ("stay-here", "rewrite"),
        ("redact", "rewrite"),
        ("tide", "replace"),
        ("protect-shell", "refuse: protect-shell: chest.txt is protected"),
        ("map-check", "continue"),
        ("map-check", "pass"),
    }
    assert all(float(row[-1]) > 0 for row in rows[1:])
    assert list(stage.folder.glob("treblehook-demo-*")) == []


def test_its_files_can_be_kept_and_played_again(stage: Stage) -> None:
    ran = stage.bare("demo", "--keep", TMPDIR=str(stage.folder))
    (kept,) = stage.folder.glob("treblehook-demo-*")
    assert f"The files are in {kept}." in ran.out
    command = shlex.split(ran.out.split("Once more:\n")[1].replace("\\\n", " "))

    again = stage.bare(*command[1:], PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin")

    assert command[0] == "treblehook"
    assert again.status == 0
    assert "not run: Leave the treasure where it is." in again.out
    # The password never reached the disk outside the file it came from.
    found = subprocess.run(["grep", "-rl", "CROW-7731", str(kept)], capture_output=True, text=True, check=False).stdout
    assert found.split() == [str(kept / "island" / "log.txt")]


def test_a_terminal_gets_cards(stage: Stage) -> None:
    person = Terminal([*COMMAND, "demo"], stage.workspace, stage.environment())

    person.shows("✗ not run: Leave the treasure where it is.")
    person.shows("Who decided what:")

    assert person.ended() == 0
    person.close()
