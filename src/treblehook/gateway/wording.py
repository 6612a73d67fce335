"""What a model is told where an answer can only be said as a denial. No text here is ever blank: agents drop a denial without a reason."""

from typing import Any, Final

import msgspec

from treblehook.gateway.values import AskUser, Refused

LONGEST_SHOWN: Final = 20_000
"""How many characters of an input a denial shows."""


def said(text: str, otherwise: str = "A hook refused this.") -> str:
    """`text`, or `otherwise` where it is blank. Half a surrogate pair, which no JSON in UTF-8 can hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode() if text.strip() else otherwise


def refusal(answer: Refused) -> str:
    """Why a call does not run, or the result that a hook gave in the tool's place."""
    if answer.replaced:
        return f"The tool was not run; a hook answered in its place. This is the result:\n{said(answer.reason, '(empty)')}"
    return said(answer.reason)


def unasked_question(answer: AskUser, agent: str) -> str:
    """A question that `agent` cannot put to its user."""
    why = said(answer.reason, "A hook wants the user asked.")
    return f"{why} {agent} lets no hook ask, so this was not run. The user can allow it by a rule of Treblehook."


def unrewritten(rewritten: dict[str, Any], agent: str) -> str:
    """A call that hooks want to run with another input, which `agent` does not let them say."""
    shown = msgspec.json.encode(rewritten).decode()
    if len(shown) > LONGEST_SHOWN:
        shown = f"{shown[:LONGEST_SHOWN]}... ({len(shown)} characters)"
    return f"Hooks want this call to be made with another input, which they cannot set in {agent}. Make it again with this one: {shown}"
