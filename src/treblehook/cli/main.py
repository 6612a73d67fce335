"""The `treblehook` command. Its help is printed without importing any command."""

import errno
import importlib
import sys
from typing import Any, Final

import click

from treblehook.cli.command_group import CommandGroup

COMMANDS: Final = {
    "run": ("treblehook.cli.run", "One session in the foreground."),
    "chat": ("treblehook.cli.chat", "An interactive session, by hand or by JSON lines."),
    "serve": ("treblehook.cli.serve", "The daemon: sessions and webhooks over HTTP."),
    "capsule": ("treblehook.cli.capsule", "Run, check and trace capsules."),
    "demo": ("treblehook.cli.demo", "A scripted session with one hook of every kind."),
    "hooks": ("treblehook.cli.hooks", "List, check, fire, make and test hooks."),
    "hook": ("treblehook.cli.hook", "What an outside agent runs: its hook call in, the answer out."),
    "kiln": ("treblehook.cli.kiln", "Index, search, rename and watch your notes."),
    "trust": ("treblehook.cli.trust", "Whether the Lua that comes with a workspace may run."),
    "webhook": ("treblehook.cli.webhook", "Mint and list the secrets of webhooks."),
    "install": ("treblehook.cli.install", "Let an agent that you already have ask your hooks."),
    "uninstall": ("treblehook.cli.uninstall", "Take that out of the agent again."),
    "trace": ("treblehook.cli.trace", "The timeline of a session: who was asked, who answered what."),
    "doctor": ("treblehook.cli.doctor", "Whether this installation and your home are well."),
}
"""Every command: the module that holds it as `command`, and its line in the help."""


_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class LateGroup(CommandGroup):
    """A group that imports a command's module when the command is called."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command. A disk that takes no more is told in a line; a reader that has gone is click's to handle."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            from treblehook.cli.output.stream import let_go

            click.echo(f"error: cannot write: {error.strerror}", err=True)
            let_go(sys.stdout)
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LateGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="treblehook", prog_name="treblehook")
def main() -> None:
    """Runs the hooks of an AI agent: what you wrote decides what it may do."""
