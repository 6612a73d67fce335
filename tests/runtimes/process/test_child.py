"""One child: who gets its signals, and that its exit status is collected once."""

import gc
import os
import warnings

import pytest

from tests.support.processes import until
from treblehook.runtimes.process.child import Child, spawn


def child_of(program: str) -> Child:
    child = spawn([program], None, None, None)
    for descriptor in (child.stdin, child.stdout, child.stderr):
        os.close(descriptor)
    return child


async def test_a_collected_child_is_sent_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its number may be somebody else's by now.
    child = child_of("true")
    sent: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda pid, number: sent.append(pid))
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(pid))

    child.terminate()
    child.kill()
    assert sent == [child.pid] * 3
    await until(child.ended)
    child.terminate()
    child.kill()

    assert sent == [child.pid] * 3
    assert child.status == 0


async def test_a_status_is_collected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    child = child_of("false")
    await until(child.ended)

    monkeypatch.delattr(os, "waitpid")

    assert child.ended()
    assert child.status == 1


async def test_python_has_nothing_to_complain_of_a_collected_child() -> None:
    child = child_of("true")
    await until(child.ended)

    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        del child
        gc.collect()

    assert complaints == []
