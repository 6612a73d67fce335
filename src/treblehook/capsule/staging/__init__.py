"""Staging lives here: everything that has to be there before a session begins. Nothing that fails here has started anything.

`resolve.py` finds the packages of the artifacts, `stage.py` goes through the steps in the contract's order, `tool_manifests.py` writes what
the model reads of its tools, `guide.py` writes `MURMUR.md`.
"""
