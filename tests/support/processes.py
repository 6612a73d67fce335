"""What a test sees of the operating system's processes: who is alive, who is a child, what is still open."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple


class Held(NamedTuple):
    """What this process holds that a finished run must have given back."""

    descriptors: dict[int, str]
    children: dict[int, str]
    threads: int


def held() -> Held:
    """The open descriptors with what they lead to, the children (zombies too) with their state, and the number of threads."""
    return Held(_descriptors(), _children(), threading.active_count())


NOTHING = Held({}, {}, 0)


def new_since(before: Held) -> Held:
    """What is held now and was not before. What earlier tests left to the garbage collector may go at any time, and is no matter."""
    now = held()
    return Held(
        {number: leads_to for number, leads_to in now.descriptors.items() if before.descriptors.get(number) != leads_to},
        {child: state for child, state in now.children.items() if before.children.get(child) != state},
        max(0, now.threads - before.threads),
    )


def pipes() -> int:
    """How many open descriptors lead to a pipe."""
    return sum(leads_to.startswith("pipe:") for leads_to in _descriptors().values())


def memory() -> int:
    """The bytes of this process that are in memory and nobody else's."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    return _state(pid)[0] not in ("", "Z", "X")


def python(code: str) -> list[str]:
    """An argv that runs `code`, starting as fast as Python can."""
    return [sys.executable, "-ISc", code]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that no event tells of. The test's time limit guards against waiting for ever."""
    while True:
        if condition():
            return
        await asyncio.sleep(0.005)


class Ear:
    """Collects what `on_output` tells, and waits for a line."""

    def __init__(self) -> None:
        self.heard = {"stdout": b"", "stderr": b""}
        self._news = asyncio.Event()

    def __call__(self, stream: Literal["stdout", "stderr"], chunk: bytes) -> None:
        self.heard[stream] += chunk
        self._news.set()

    async def line(self, number: int = 0) -> str:
        """Line `number` of stdout, once it is complete."""
        while self.heard["stdout"].count(b"\n") <= number:
            self._news.clear()
            await self._news.wait()
        return self.heard["stdout"].splitlines()[number].decode()


def _descriptors() -> dict[int, str]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            # The descriptor that listed the directory.
            continue
    return found


def _children() -> dict[int, str]:
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        state, parent = _state(int(name))
        if parent == os.getpid():
            found[int(name)] = state
    return found


def _state(pid: int) -> tuple[str, int]:
    """The state letter and the parent of a process; ("", 0) when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "", 0
    # The name in parentheses may itself hold parentheses and spaces.
    state, parent = stat.rpartition(")")[2].split()[:2]
    return state, int(parent)
