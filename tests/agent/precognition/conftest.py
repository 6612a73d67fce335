"""What the tests of found notes share: a session over two kilns, and stand-ins for the handlers of both Lua VMs."""

import pytest

from tests.support.nest import Nest, nest
from tests.support.rows import Rows
from tests.support.shelf import Shelf, found
from treblehook.agent.session import Session

__all__ = ["nest"]


@pytest.fixture
async def rows() -> Rows:
    return Rows()


@pytest.fixture
async def shelf() -> Shelf:
    return Shelf(found("Palm", score=0.9, folder="Island/"), found("Chest", score=0.8, kiln="journal"), found("Crow", score=0.25))


@pytest.fixture
async def session(nest: Nest, rows: Rows, shelf: Shelf) -> Session:
    nest.plays(*({"text": f"Reply {number}."} for number in range(5)))
    opened = await nest.open(hooks=rows.hooks)
    shelf.put_up(opened, "notes", "journal")
    return opened
