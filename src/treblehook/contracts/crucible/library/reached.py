"""What the functions that reach the host have in common: a host that can be reached, and its refusals."""

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.library import Library, missing
from treblehook.host.reach import Reach


def reach_of(library: Library, call: Arguments) -> Reach:
    """The host. Raises `LuaRaise` where there is none: in a check of plugins, for instance."""
    reach = library.services.reach
    if reach is None:
        missing(call.function, "there are no sessions here")
    return reach
