"""What the tests of the Node runtime share: a rig, and the check that nothing is left behind."""

import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.node_rig import NodeRig
from tests.support.processes import NOTHING, held, new_since


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """After every test: the same descriptors, children and threads as before."""
    before = held()
    yield
    gc.collect()
    assert new_since(before) == NOTHING


@pytest.fixture
async def rig(tmp_path: Path, nothing_is_left: None) -> AsyncIterator[NodeRig]:
    rig = NodeRig(tmp_path)
    yield rig
    await rig.close()
