"""What the model is told about its place before anybody speaks."""

from collections.abc import Iterable

from treblehook.host.tool import ToolSpec


def system_prompt(workspace: str, tools: Iterable[ToolSpec]) -> str:
    """The system prompt of an ordinary session."""
    names = ", ".join(tool.name for tool in tools) or "none"
    return (
        "You are an agent that works in a folder on the user's machine by calling tools.\n"
        f"The folder is {workspace}; relative paths start there.\n"
        f"Your tools: {names}.\n"
        "Look before you change anything, do what was asked and no more, and say plainly what you did and what you could not do. "
        "A tool result that says a call was blocked or denied is final: do not try to reach the same end another way unless asked to."
    )
