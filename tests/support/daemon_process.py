"""The real daemon in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from tests.support.deliveries import signed

SERVE = (sys.executable, "-m", "treblehook", "serve", "--port", "0", "--home")
HOOKED = (sys.executable, "-m", "tests.support.daemon_main")
"""With a hook that keeps what it gets; see there."""

ROOT = Path(__file__).parent.parent.parent


class DaemonProcess:
    """Runs while it is entered, and has said that it listens by then."""

    def __init__(self, home: Path, *options: str, command: tuple[str, ...] = SERVE) -> None:
        self.home = home
        self._errors = home.parent / f"{home.name}-errors"
        environment = {name: value for name, value in os.environ.items() if name != "TREBLEHOOK_HOME"}
        with self._errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [*command, str(home), *options], stdout=subprocess.PIPE, stderr=errors, env=environment, cwd=ROOT, start_new_session=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"it did not start: {self._errors.read_text()}"
        self.first: dict[str, Any] = json.loads(line)
        self.client = httpx2.Client(base_url=self.first["url"], timeout=60)

    @property
    def errors(self) -> str:
        """What it has written to standard error."""
        return self._errors.read_text()

    def deliver(self, body: bytes, name: str = "ci") -> int:
        """POST a signed delivery; answers the status."""
        return self.client.post(f"/api/webhook/{name}", content=body, headers=signed(body)).status_code

    def received(self) -> list[dict[str, Any]]:
        """What the hook has got so far, by all processes."""
        file = self.home / "received"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def wait_received(self, count: int) -> list[dict[str, Any]]:
        """Wait until it is so many."""
        while len(found := self.received()) < count:
            assert self.process.poll() is None, self.errors
            time.sleep(0.005)
        return found

    def kill(self) -> None:
        """Kill it; nothing of it runs any more."""
        self.process.kill()
        self.process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; answers the exit status."""
        self.process.send_signal(number)
        return self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()
