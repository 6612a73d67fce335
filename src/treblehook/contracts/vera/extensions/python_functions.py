"""The functions of a Python extension's module: `activate`, `fire` and `dispose`, as `api.cjs` has them for JavaScript."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from treblehook.contracts.python.functions import asking
from treblehook.contracts.vera.extensions.python_api import Book, Treblehook
from treblehook.contracts.vera.json_text import NotJson, encoded, parsed
from treblehook.contracts.vera.phases import FUNCTION_PHASES
from treblehook.runtimes.python import Functions, ModuleHost


class PythonFunctions:
    """One extension; `load` loads its file. What its code raises, they raise.

    Async functions run on the module's event loop, plain ones each in a thread of its own, so that one that blocks holds up
    nothing else.
    """

    def __init__(self, host: ModuleHost, load: Callable[[], ModuleType]) -> None:
        self._host = host
        self._load = load
        self._book: Book | None = None
        self._disposer: Callable[[], Any] | None = None

    def by_name(self) -> Functions:
        """What a `PythonModule` calls."""
        return {"activate": self._activate, "fire": self._fire, "dispose": self._dispose}

    async def _activate(self, argument: bytes) -> bytes:
        given = parsed(argument.decode())
        book = self._book = Book(self._host, tuple(given["capabilities"]))
        module = await _run(lambda _: self._load(), None)
        activate = getattr(module, "activate", None)
        if not callable(activate):
            raise TypeError('the module has no function "activate"')
        self._disposer = _disposer(await _run(activate, Treblehook(given["config"], book)))
        # Also where the extension has caught what was raised.
        if book.undeclared is not None:
            raise book.undeclared
        book.state = "active"
        return book.standing()

    async def _fire(self, argument: bytes) -> bytes:
        assert self._book is not None, "it was activated"
        given = parsed(argument.decode())
        made = self._book.registrations[given["hook"]]
        assert made.function is not None, "executables are not asked here"
        answer = await _run(made.function, given["payload"])
        if FUNCTION_PHASES[made.hook.phase].observes:
            return b"null"
        if answer is None:
            raise TypeError('returned nothing; a function with nothing to say returns {"power": "observe"}')
        try:
            return encoded(answer)
        except NotJson as error:
            raise TypeError(f"returned what is not JSON: {error.message}") from error

    async def _dispose(self, argument: bytes) -> bytes:
        if self._book is not None:
            self._book.close()
        if self._disposer is not None:
            await _run(lambda _: self._disposer and self._disposer(), None)
        return b"null"


async def _run(function: Callable[[Any], Any], argument: Any) -> Any:
    return await asking(function, in_thread=True)(argument)


def _disposer(given: Any) -> Callable[[], Any] | None:
    """What `activate` gave back, as a function."""
    dispose: Callable[[], Any] | None = getattr(given, "dispose", given)
    if dispose is None or callable(dispose):
        return dispose
    raise TypeError(f"activate returned {given!r:.60}; it must return nothing, a function or an object with a method dispose")
