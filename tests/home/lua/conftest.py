"""What the tests of a home's Lua share: a nest with Lua files."""

from tests.support.lua_nest import nest

__all__ = ["nest"]
