"""A group of commands that names its commands where it is asked for one that there is not."""

import click


class CommandGroup(click.Group):
    """Tells of an unknown command in one line: the nearest one, and all that there are."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with. Raises `UsageError`, which ends with exit status 2."""
        name, names = args[0], self.list_commands(ctx)
        if name not in names and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}.{_hint(name, names)} There are: {', '.join(names)}.")
        return super().resolve_command(ctx, args)


def _hint(name: str, names: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name.lower(), names, n=1)
    return f" Did you mean {close[0]}?" if close else ""
