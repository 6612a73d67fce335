"""The runner of a plugin's own tests lives here: `*_test.lua`, events to fire at the plugin, stand-ins for what it calls.

`runner.py` is the page to read first; `lua/` has what a test file is given in Lua. How results are shown is not decided here.
"""
