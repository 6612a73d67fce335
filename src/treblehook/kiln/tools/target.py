"""Which note a call means."""

from collections.abc import Awaitable, Sequence

from treblehook.host.notes import NoteProblem
from treblehook.host.tool import ToolInputInvalid, ToolOutput


def kiln_of(given: str, kilns: Sequence[str]) -> str:
    """The kiln that is meant; the only one need not be named. Raises `ToolInputInvalid`."""
    if given in kilns:
        return given
    if not given and len(kilns) == 1:
        return kilns[0]
    found = f"found {given!r}" if given else "it is missing"
    raise ToolInputInvalid(f"`kiln`: {found}; allowed: {', '.join(kilns)}.")


async def told(work: Awaitable[str]) -> ToolOutput:
    """What `work` has for the model; a note that does not do what it should is an error that says why."""
    try:
        return ToolOutput(await work)
    except NoteProblem as problem:
        return ToolOutput(f"{problem}.", is_error=True)
