"""Plain Python functions as hooks are bound here; loading code from a user's files may not happen here."""

from treblehook.contracts.python.hooks import Hooks

__all__ = ["Hooks"]
