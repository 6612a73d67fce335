"""MCP servers whose program is not there."""

import os
import shutil
from collections.abc import Iterator, Mapping

from treblehook.home.settings import Settings
from treblehook.home.table import Table
from treblehook.host.problems import Problem


def missing_programs(settings: Settings, environ: Mapping[str, str]) -> Iterator[Problem]:
    """A warning for each `[mcp.NAME]` with a `command` that the system would not find."""
    servers = Table({}, str(settings.file), "mcp", [])
    for server in settings.mcp:
        # The system searches the PATH that the process itself will have.
        path = server.env.get("PATH", environ.get("PATH"))
        if server.command and shutil.which(server.command[0], path=path) is None:
            program = server.command[0]
            if os.path.dirname(program):
                why = "is no program"
            else:
                why = "is not on the PATH in its env" if "PATH" in server.env else "is not on PATH"
            message = f"found {program!r}, which {why}: the server will not start"
            remedy = "install it, or name another"
            yield Problem(servers.file, f"{servers.at(server.name)}.command[0]", message, remedy, "warning")
