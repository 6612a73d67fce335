"""The notes of kilns live here: their files, their index, the watch over both, search and renaming; what a hook is may not.

`kilns.py` is all of a home's kilns as everybody else uses them, `kiln.py` one of them. Heavy libraries are loaded when they are needed.
"""
