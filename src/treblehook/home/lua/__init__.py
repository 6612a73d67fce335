"""The Lua machines of a home live here: the one that its plugins share, and one for each session; what Lua code may do stands in
`contracts/crucible`.

`machines.py` makes them, `plugins.py` looks after the plugins, `log.py` writes down what they say, `reach.py` lets them reach sessions.
"""

from treblehook.home.lua.machines import LuaMachines, SessionMachine
from treblehook.home.lua.plugins import PluginBroken

__all__ = ["LuaMachines", "PluginBroken", "SessionMachine"]
