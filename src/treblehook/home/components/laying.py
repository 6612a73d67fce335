"""Laying a home's components over the handlers of one session."""

from pathlib import Path
from typing import TYPE_CHECKING

from treblehook.engine import BindError, Registry
from treblehook.home.home import Home
from treblehook.home.profile import Surroundings
from treblehook.host.problems import ConfigInvalid, Problem

if TYPE_CHECKING:
    # It loads the WebAssembly library.
    from treblehook.home.components.session import SessionComponents


async def bound_components(
    home: Home, registry: Registry, session: str, workspace: Path, *, surroundings: Surroundings | None = None, spawned: bool = False
) -> "SessionComponents | None":
    """Those of one session, bound and not started yet; None where the home has none.

    Raises `ConfigInvalid` where one cannot be staged, or is a policy that is switched off.
    """
    staged = await home.components.staged()
    if staged is None:
        return None
    from treblehook.home.components.session import SessionComponents

    components = SessionComponents(staged, home.path, session, workspace, home.environ, surroundings)
    try:
        components.bind(registry, home.settings.modes, spawned=spawned)
    except BindError as error:
        place = f"hooks.{error.hook}.mode"
        raise ConfigInvalid([Problem(str(home.settings.file), place, str(error), "leave it out: a policy is always on")]) from error
    return components
