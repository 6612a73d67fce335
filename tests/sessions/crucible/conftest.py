"""What the tests of whole sessions with Lua hooks share: each is run with the code in each place from which it can come."""

import pytest

from tests.support.lua_nest import Place, nest

__all__ = ["nest"]


@pytest.fixture(params=["user", "plugin", "workspace"])
def where(request: pytest.FixtureRequest) -> Place:
    place: Place = request.param
    return place
