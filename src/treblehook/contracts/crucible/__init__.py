"""The crucible contract lives here: Lua functions are registered, asked and read; what runs Lua and what fires events may not.

`vm.py` is one Lua machine with `cru.on` and its sisters. `events.py` is the table of
the nineteen events that all else reads. The rules are those of crucible.md.
"""
