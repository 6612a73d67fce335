"""What capsules need of the extras."""

from importlib.util import find_spec
from typing import Final

import click

_NEEDED: Final = ("wasmtime", "yaml")


def check_installed() -> None:
    """Raises `click.UsageError` where a library is missing."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise click.UsageError(f"capsules need {', '.join(missing)}: pip install 'treblehook[wasm]'")
