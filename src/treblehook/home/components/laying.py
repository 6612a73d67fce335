"""Laying a home's components over the handlers of one session."""

from pathlib import Path
from typing import TYPE_CHECKING

from treblehook.engine import Registry
from treblehook.home.home import Home
from treblehook.home.profile import Surroundings

if TYPE_CHECKING:
    # It loads the WebAssembly library.
    from treblehook.home.components.session import SessionComponents


async def bound_components(
    home: Home, registry: Registry, session: str, workspace: Path, *, surroundings: Surroundings | None = None, spawned: bool = False
) -> "SessionComponents | None":
    """Those of one session, bound and not started yet; None where the home has none. Raises `ConfigInvalid` where one cannot be staged."""
    staged = await home.components.staged()
    if staged is None:
        return None
    from treblehook.home.components.session import SessionComponents

    components = SessionComponents(staged, home.path, session, workspace, home.environ, surroundings)
    components.bind(registry, home.settings.modes, spawned=spawned)
    return components
