"""Signals go to the process's group, and to nobody once the process's number may belong to somebody else."""

import os

import pytest

from tests.support.processes import until
from treblehook.runtimes.process.child import spawn


async def test_a_collected_child_is_sent_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    child = spawn(["true"], None, None, None)
    for descriptor in (child.stdin, child.stdout, child.stderr):
        os.close(descriptor)
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "killpg", lambda pid, number: sent.append((pid, number)))
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))

    child.terminate()
    assert len(sent) == 1
    await until(child.ended)
    child.terminate()
    child.kill()

    assert len(sent) == 1
    assert child.status == 0


async def test_a_status_is_collected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    child = spawn(["false"], None, None, None)
    for descriptor in (child.stdin, child.stdout, child.stderr):
        os.close(descriptor)
    await until(child.ended)

    monkeypatch.delattr(os, "waitpid")

    assert child.ended()
    assert child.status == 1
