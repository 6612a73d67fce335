"""Several processes that write `trust.json` at once, and one that is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from treblehook.home.trust import Trusted, TrustStore

WRITER = """
import sys
from pathlib import Path
from treblehook.home.trust import Trusted, TrustStore
store = TrustStore(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    store.add(Trusted(f"{sys.argv[2]}-{number}", f"/{sys.argv[2]}", "2026-01-01T00:00:00+00:00", {}))
    print(number, flush=True)
"""


def writer(home: Path, name: str, times: int) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", WRITER, str(home), name, str(times)], stdout=subprocess.PIPE, text=True)


def test_nothing_is_lost_between_writers(tmp_path: Path) -> None:
    writers = [writer(tmp_path, name, 20) for name in "abc"]

    assert [process.communicate()[0].splitlines()[-1] for process in writers] == ["19", "19", "19"]
    assert {entry.digest for entry in TrustStore(tmp_path).entries()} == {f"{name}-{number}" for name in "abc" for number in range(20)}


def test_a_killed_writer_leaves_a_whole_file_and_no_lock(tmp_path: Path) -> None:
    killed = writer(tmp_path, "a", 100_000)
    assert killed.stdout is not None
    for _ in range(5):
        killed.stdout.readline()
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    store = TrustStore(tmp_path)

    before = store.entries()
    store.add(Trusted("b", "/b", "2026-01-01T00:00:00+00:00", {}))

    assert [entry.digest for entry in before[:5]] == [f"a-{number}" for number in range(5)]
    assert store.entries() == [*before, Trusted("b", "/b", "2026-01-01T00:00:00+00:00", {})]
