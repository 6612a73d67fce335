"""`treblehook hooks test`: the tests that a Lua plugin brings along."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from treblehook.cli.failures import FAILED
from treblehook.cli.home_options import WRONG, output_option, problem_line, say_json
from treblehook.cli.output.safe_text import safe
from treblehook.home.place import absolute
from treblehook.host.problems import ConfigInvalid, Problem

if TYPE_CHECKING:
    from treblehook.contracts.crucible.testing.results import TestResult


@click.command(name="test")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--filter", "wanted", metavar="TEXT", default="", help="Only tests whose `FILE: NAME` contains this.")
@output_option
@click.pass_context
def test(context: click.Context, folder: Path, wanted: str, output: str) -> None:
    """Run DIR/tests/*_test.lua, where DIR is the folder of a Lua plugin.

    Every test has a machine of its own with the plugin in it. Nothing outside is reached: what the plugin calls, the test answers.

    Exit status 0 when all tests pass, 1 when one fails, 2 where there is nothing to run.
    """
    if find_spec("lupa") is None:
        _nothing(context, Problem(str(folder), "", "there is no library to run Lua", "pip install 'treblehook[lua]'"))
    # Lua is loaded for this command alone.
    from treblehook.contracts.crucible.plugins.discovery import find_plugin
    from treblehook.contracts.crucible.testing.runner import run_tests, test_files

    try:
        place = absolute(folder, "DIR")
    except ConfigInvalid as invalid:
        _nothing(context, invalid.problems[0])
    found = find_plugin(place)
    if isinstance(found, Problem):
        _nothing(context, found)
    if not place.is_dir() or not test_files(place):
        _nothing(context, Problem(str(place), "", "it has no tests", "a test is a file such as tests/first_test.lua"))
    results: list[TestResult] = []

    def told(result: "TestResult") -> None:
        results.append(result)
        if output == "jsonl":
            say_json({"type": "test", **{name: getattr(result, name) for name in result.__struct_fields__}})
        else:
            click.echo("\n".join(_lines(result)))

    run_tests(found, place, lambda name: wanted in name, told)
    if not results:
        _nothing(context, Problem(str(place), "", f"no test has {wanted!r} in its file and name", "run it without --filter to see them"))
    failed = sum(result.status == "failed" for result in results)
    if output == "jsonl":
        say_json({"type": "summary", "passed": len(results) - failed, "failed": failed})
    else:
        click.secho(
            f"\n{_count(len(results))}: {len(results) - failed} passed, {failed} failed", bold=True, fg="red" if failed else "green"
        )
    context.exit(FAILED if failed else 0)


def _nothing(context: click.Context, problem: Problem) -> NoReturn:
    click.echo(problem_line(problem), err=True)
    context.exit(WRONG)


def _lines(result: "TestResult") -> Iterator[str]:
    """A line for a test; what happened below one that failed."""
    name = f"{result.file}: {result.name}" if result.name else result.file
    if result.status == "passed":
        yield f"{click.style('ok', fg='green')}     {safe(name)}"
        return
    yield f"{click.style('FAILED', fg='red')} {safe(name)}"
    yield from _quoted(f"{result.file}:{result.line}: {result.message}" if result.line else result.message)
    if result.expected is not None:
        yield from _quoted(f"expected: {result.expected}")
    if result.actual is not None:
        yield from _quoted(f"actual:   {result.actual}")
    for line in result.output:
        yield from _quoted(f"| {line}")


def _quoted(text: str) -> Iterator[str]:
    yield from (f"       {line}" for line in safe(text).split("\n"))


def _count(number: int) -> str:
    return f"{number} test{'' if number == 1 else 's'}"
