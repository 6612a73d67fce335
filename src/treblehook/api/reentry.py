"""Notices a hook that calls the home which waits for it (vera.md 7.1)."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from treblehook.api.errors import CalledFromOwnHook


class _Stay:
    """One call into a home; `over` once it has returned, which tasks that it left behind may outlive."""

    def __init__(self, home: object) -> None:
        self.home = home
        self.over = False


# Tasks and threads that are started inside a call inherit it, so hooks are known by it wherever they run.
_stays: ContextVar[tuple[_Stay, ...]] = ContextVar("treblehook_stays", default=())


@contextmanager
def inside(home: object) -> Iterator[None]:
    """Mark what happens here as happening inside `home`. Raises `CalledFromOwnHook` where that is so already."""
    around = _stays.get()
    if any(stay.home is home and not stay.over for stay in around):
        raise CalledFromOwnHook
    stay = _Stay(home)
    token = _stays.set((*around, stay))
    try:
        yield
    finally:
        stay.over = True
        _stays.reset(token)
