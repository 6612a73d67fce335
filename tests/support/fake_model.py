"""The scripted model server of `tests/rig/fake_model.py` as a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent.parent / "rig" / "fake_model.py"


def provider_environment(url: str) -> dict[str, str]:
    """An environment in which every provider is the server at `url`, and nothing else is set."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "anthropic-key",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GOOGLE_API_KEY": "google-key",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "openai-key",
    }


class FakeModel:
    """A running server: its address, the script that it plays, and what it was asked."""

    def __init__(self, url: str, script: Path, log: Path) -> None:
        self.url = url
        self.environ = provider_environment(url)
        self.script = script
        self._log = log

    def play(self, script: object) -> None:
        """Play another script from the next request on."""
        self.script.write_text(json.dumps(script))

    def requests(self) -> list[dict[str, Any]]:
        """The log: one object per request, oldest first, with `path`, `headers` (keys hidden), `body`, `route`, `turn`, `reply`."""
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def bodies(self) -> list[dict[str, Any]]:
        """What was sent, request by request."""
        return [request["body"] for request in self.requests()]


@pytest.fixture
def fake_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[object], FakeModel]]:
    """Starts servers, each on a free port of this machine; call it with a script."""
    with ExitStack() as running:

        def start(script: object) -> FakeModel:
            folder = tmp_path_factory.mktemp("fake_model")
            file, log = folder / "script.json", folder / "log.jsonl"
            file.write_text(json.dumps(script))
            argv = [sys.executable, str(PROGRAM), "--script", str(file), "--port", "0", "--log", str(log)]
            process = running.enter_context(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
            running.callback(process.terminate)
            assert process.stdout is not None
            return FakeModel(f"http://127.0.0.1:{int(process.stdout.readline())}", file, log)

        yield start
