"""Where no daemon answers: start one and ask it, and where that fails, ask the hooks in this process."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from treblehook.gateway.client.client import NoAnswer, ask, give_up, read_all, write_all
from treblehook.host.private import make_private_folder

START_SECONDS: Final = 20.0
"""How long a daemon may take to listen."""

_AGENTS_OWN: Final = ("CLAUDE", "CODEX_", "COPILOT_", "GEMINI_", "OPENCODE", "PI_", "QWEN_")

_POLL_SECONDS: Final = 0.02


def main(arguments: list[str]) -> int:
    """Answers the exit status; `arguments` are those of `client.py`."""
    agent, event, policy, path, home = arguments
    body = read_all(0)
    try:
        answer = answer_of(agent, event, body, path, Path(home))
    except Exception as error:
        # Whatever it is, the policy of the guard decides.
        return give_up(policy, f"{type(error).__name__}: {error}")
    write_all(1, answer)
    return 0


def answer_of(agent: str, event: str, body: bytes, path: str, home: Path) -> bytes:
    """The answer of a daemon that is started now, else of the hooks themselves. Raises whatever keeps both from answering."""
    if not home.is_dir():
        # A new one in its place would have no hooks, and let everything pass.
        raise FileNotFoundError(f"the home {home} is not there, and so are none of its hooks")
    until = time.monotonic() + START_SECONDS
    started = _start(home)
    while started is not None and time.monotonic() < until:
        try:
            return ask(path, agent, event, body)
        except NoAnswer as nobody:
            if nobody.late:
                raise
        time.sleep(_POLL_SECONDS)
        status = started.poll()
        if status == 0:
            # Another one has the home: it does not listen yet, or is about to end.
            started = _start(home)
        elif status is not None:
            break
    return asyncio.run(_in_process(agent, event, body, home))


def _start(home: Path) -> "subprocess.Popen[bytes] | None":
    """A daemon of the home, which outlives this process; None where none can be started. It ends with 0 where one is there already."""
    make_private_folder(home / "gateway")
    with (home / "gateway" / "daemon.log").open("ab") as log:
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-m", "treblehook", "serve", "--on-demand", "--home", str(home)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=home,
                env=environment(os.environ),
                start_new_session=True,
            )
        except OSError:
            return None


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """What the daemon inherits: all but what the agent that happens to start it has set for itself, its keys above all."""
    return {name: value for name, value in given.items() if not name.startswith(_AGENTS_OWN)}


async def _in_process(agent: str, event: str, body: bytes, home: Path) -> bytes:
    # The engine is needed only where no daemon is.
    from treblehook.gateway.service import Gateway
    from treblehook.home.home import Home

    async with Home(home, os.environ) as opened:
        gateway = Gateway(opened, lambda line: print(f"treblehook: {line}", file=sys.stderr))
        try:
            return await gateway.answer(agent, event, body)
        finally:
            await gateway.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
