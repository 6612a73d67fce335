"""`treblehook doctor`: whether this installation and this home are well."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import click

from treblehook.cli.agents.health import examine_agents
from treblehook.cli.home_options import WRONG, home_option, output_option, say_json
from treblehook.cli.output.safe_text import safe
from treblehook.home.health.examine import examine
from treblehook.home.health.finding import Finding

_COLOURS: Final = {"ok": "green", "warning": "yellow", "error": "red"}


@click.command(name="doctor")
@home_option
@output_option
@click.pass_context
def command(context: click.Context, home: Path, output: str) -> None:
    """Say whether this installation and this home are well.

    What is installed, the home's folder, all that `hooks check` finds, extensions, the default model, MCP servers. Extensions are
    activated and MCP servers started, and ended again; no hook is asked and no model is called. For each agent that `treblehook install`
    was used for, a probe is sent as that agent would send a call; like a call, it starts the daemon where none runs. Exit status 0 without
    errors, whatever the warnings; 2 with errors.
    """
    if asyncio.run(_say(home, output)):
        context.exit(WRONG)


async def _say(home: Path, output: str) -> bool:
    """Say every finding as it comes; answers whether one is an error."""
    errors = False
    async for finding in _findings(home):
        errors = errors or finding.level == "error"
        if output == "jsonl":
            say_json(finding)
        else:
            click.echo(f"{click.style(f'{finding.level:<8}', fg=_COLOURS[finding.level])}{_line(finding)}")
    return errors


async def _findings(home: Path) -> AsyncIterator[Finding]:
    async for finding in examine(home, os.environ):
        yield finding
    async for finding in examine_agents(home, os.environ, Path.cwd()):
        yield finding


def _line(finding: Finding) -> str:
    remedy = f" ({finding.remedy})" if finding.remedy else ""
    return safe(f"{finding.what}: {finding.message}{remedy}".replace("\n", " "))
