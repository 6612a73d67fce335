"""What the tests of this contract share: two machines, and the same test in each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.call_rig import CallRig
from tests.support.crucible_events import sample_events
from tests.support.crucible_rig import LuaRig
from treblehook.lifecycle import Event


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[LuaRig]:
    rig = LuaRig(tmp_path)
    yield rig
    rig.close()


@pytest.fixture(params=["session", "plugin"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which machine a test loads its code into: every rule holds in both."""
    found: str = request.param
    return found


@pytest.fixture
def events() -> dict[str, Event]:
    """One event for each of the nineteen names."""
    return sample_events()


@pytest.fixture
def calls(tmp_path: Path) -> CallRig:
    """The path of a tool call, with the tools `dig` and `shell`."""
    return CallRig(tmp_path / "results")


@pytest.fixture
def on_calls(calls: CallRig, tmp_path: Path) -> Iterator[LuaRig]:
    """Two machines whose handlers are asked about `calls`."""
    rig = LuaRig(tmp_path, registry=calls.registry)
    yield rig
    rig.close()
