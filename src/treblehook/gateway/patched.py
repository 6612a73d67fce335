"""What hooks made of a result, for agents that can be told of it only beside the result, or not at all."""

from treblehook.gateway.values import Patched
from treblehook.gateway.wording import LONGEST_SHOWN, said
from treblehook.host.tool import ToolOutput


def added(output: ToolOutput, patch: Patched) -> str | None:
    """What hooks have said beside a result that they left as it is; None where they have changed it."""
    if patch.content.startswith(output.content):
        words = patch.content.removeprefix(output.content)
    elif patch.content.endswith(output.content):
        words = patch.content.removesuffix(output.content)
    else:
        return None
    flagged = "" if patch.is_error == output.is_error else f"Hooks count this result as {'an' if patch.is_error else 'no'} error."
    return "\n".join(filter(None, (flagged, words.strip())))


def instead_of_error(patch: Patched) -> str:
    """A result that hooks put in place of an error, which stays."""
    return f"Hooks put this in place of the error: {said(patch.content, '(empty)')}"


def unreplaced(tool: str, patch: Patched, agent: str) -> str:
    """A result that hooks have changed, and that is withheld since `agent` does not let them."""
    made = said(patch.content, "(empty)")
    shown = made if len(made) <= LONGEST_SHOWN else f"{made[:LONGEST_SHOWN]}... ({len(made)} characters)"
    return f"Hooks changed the result of {tool}, which they cannot in {agent}. This is what they made of it: {shown}"
