"""A command that there is not: the nearest one, and all that there are."""

import pytest

from tests.support.command_run import Stage
from treblehook.cli.hooks import command as hooks
from treblehook.cli.main import COMMANDS

TOP = f"There are: {', '.join(COMMANDS)}."
HOOKS = f"There are: {', '.join(sorted(hooks.commands))}."


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rnu"], f"No such command 'rnu'. Did you mean run? {TOP}"),
        (["Trace", "last"], f"No such command 'Trace'. Did you mean trace? {TOP}"),
        (["xyzzy"], f"No such command 'xyzzy'. {TOP}"),
        (["hooks", "chekc"], f"No such command 'chekc'. Did you mean check? {HOOKS}"),
        (["hooks", "xyzzy", "--home", "nowhere"], f"No such command 'xyzzy'. {HOOKS}"),
    ],
)
def test_the_nearest_command_and_all_are_named(stage: Stage, words: list[str], told: str) -> None:
    ran = stage.bare(*words)

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.splitlines()[-1] == f"Error: {told}"


def test_an_option_in_its_place_is_told_as_an_option(stage: Stage) -> None:
    ran = stage.bare("hooks", "--chekc")

    assert ran.status == 2
    assert "No such option '--chekc'" in ran.err
