"""A failed run of Lua as the problem that the engine, the journal and the model are told."""

from treblehook.contracts.crucible.author import Author
from treblehook.engine import HookFailed, HookProblem, HookTimedOut
from treblehook.runtimes.lua import LuaFailed, LuaTimedOut


class LuaHookTimedOut(HookTimedOut):
    """The function waited longer than `seconds`, or computed too long without waiting; the message says which and where."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(seconds)
        self.args = (message,)
        self.message = message


def hook_problem(error: LuaFailed, author: Author, seconds: float) -> HookProblem:
    """`error` with its place, written down as the author's failure."""
    text = located(error, author)
    author.failed(text)
    return LuaHookTimedOut(text, seconds) if isinstance(error, LuaTimedOut) else HookFailed(text)


def located(error: LuaFailed, author: Author) -> str:
    """The error's text with `file:line:` in front, that of the registration where the error has none (an error object)."""
    if not error.file:
        return f"{author.file}:{author.line}: {error.message}"
    return error.message if error.message.startswith(f"{error.file}:") else f"{error.file}:{error.line}: {error.message}"
