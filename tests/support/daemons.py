"""The daemons that hook calls start, which outlive whoever starts them."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def end_daemons(home: Path) -> None:
    """End those of a home, among them one that is about to start: a call that another daemon has answered does not wait for its own."""
    until = time.monotonic() + 60
    while (found := list(_of(home))) and time.monotonic() < until:
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        time.sleep(0.05)
    assert not found, f"still running: {found}"


def _of(home: Path) -> Iterator[int]:
    wanted = [b"serve", b"--on-demand", b"--home", os.fsencode(home)]
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if words[-5:-1] == wanted:
                yield int(folder.name)
