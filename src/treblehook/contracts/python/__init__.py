"""Plain Python functions are bound to events here; no code may be loaded from a user's files.

`hooks.py` is what a program uses, `functions.py` how a function of any kind is asked, `signature.py` what its annotations say.
"""

from treblehook.contracts.python.hooks import Hooks

__all__ = ["Hooks"]
