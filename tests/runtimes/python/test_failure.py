"""An error is told whatever its own code does while it is shown."""

import pytest

from treblehook.runtimes.python.failure import told


class _Exits(Exception):
    def __str__(self) -> str:
        raise SystemExit


class _Code:
    def __repr__(self) -> str:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "name"),
    [(ModuleNotFoundError("x", name=5), "ModuleNotFoundError"), (_Exits(), "_Exits"), (SystemExit(_Code()), "SystemExit")],
)
def test_an_error_that_cannot_be_shown_is_told_by_its_class(error: BaseException, name: str) -> None:
    assert told(error, "/folder") == f"{name}: something that cannot be shown"
