"""What the returns of the five tool events and of their handlers mean (crucible.md 3.1, 3.2, 3.9 to 3.11)."""

from typing import Any, Final

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.plain import compact_json, plain, what
from treblehook.contracts.crucible.returned import Cancelled, Handled, Injected, Returned, Transform, warn_of_scalar
from treblehook.lifecycle import Block, Decision, Display, Environment, PreToolCall, Replace, Rewrite, ToolFinished
from treblehook.lifecycle.event import Event


def pre_tool_call(returned: Returned, event: PreToolCall, author: Author) -> Decision | None:
    """Rewrites, blocks or replaces the call. A table that injects and cancels cancels: an injection would let the call run."""
    match returned:
        case Handled(result, terminate):
            text = result if isinstance(result, str) else compact_json(result, "result")
            return Replace(text, terminate=terminate)
        case Cancelled(reason):
            return _blocked(reason, author)
        case Injected(cancels=str(reason)):
            author.warn("returned both `inject` and `cancel`; the call is cancelled, and `inject` has no effect here")
            return _blocked(reason, author)
        case Transform(fields) if "args" in fields:
            return _arguments(fields["args"], author)
    warn_of_scalar(returned, author)
    return None


def _blocked(reason: str, author: Author) -> Block:
    """What the model is told."""
    return Block(f"The call was blocked by {author.name}: {reason}")


def _arguments(value: object, author: Author) -> Rewrite | None:
    if isinstance(value, dict):
        return Rewrite(input=plain(value, "args"))
    found = "a list" if isinstance(value, list) else what(value)
    author.warn(f"returned `args` that is {found}; a table with names is needed, so the call is unchanged")
    return None


def tool_result(returned: Returned, event: ToolFinished, author: Author) -> Decision | None:
    """A partial patch: what it leaves out stays, and `cru.json.null` takes an error away."""
    if not isinstance(returned, Transform):
        warn_of_scalar(returned, author)
        return None
    result = _text(returned, "result", author)
    error = _text(returned, "error", author)
    if "error" in returned.fields and returned.fields["error"] is None:
        return Rewrite(content=event.result if result is None else result, is_error=False) if event.is_error else _content(result)
    if error is not None:
        return Rewrite(content=error, is_error=True, covered=event.result if result is None else result)
    if event.is_error and result is not None:
        return Rewrite(covered=result)
    return _content(result)


def _content(result: str | None) -> Rewrite | None:
    return None if result is None else Rewrite(content=result)


def before_execute(returned: Returned, event: Event, author: Author) -> Decision | None:
    """Environment variables; what is no string is left out."""
    if not isinstance(returned, Transform):
        warn_of_scalar(returned, author)
        return None
    env = returned.fields.get("env")
    if env is None or env == []:
        return None
    if not isinstance(env, dict):
        author.warn(f"returned `env` that is {what(env)}; a table of names and strings is needed")
        return None
    variables = {}
    for name, value in env.items():
        if not isinstance(name, str) or not isinstance(value, str):
            author.warn(f"returned the variable `{name}` as {what(value)}; a string is needed, so it is left out")
        elif not name or "=" in name or "\0" in name + value:
            author.warn(f"returned the variable {name!r}, which no program can be given; it is left out")
        else:
            variables[name] = value
    return Environment(variables) if variables else None


_TEXTS: Final = ("label", "detail", "primary_arg")


def display_start(returned: Returned, event: Event, author: Author) -> Decision | None:
    """How the card of a running call looks."""
    return _display(returned, _TEXTS, author)


def display_complete(returned: Returned, event: Event, author: Author) -> Decision | None:
    """How the card of a finished call looks."""
    return _display(returned, ("summary",), author)


def _display(returned: Returned, texts: tuple[str, ...], author: Author) -> Display | None:
    """The hints that are of the right type; a handler that gives none leaves the card to the next."""
    if not isinstance(returned, Transform):
        warn_of_scalar(returned, author)
        return None
    hints: dict[str, Any] = {name: text for name in texts if (text := _text(returned, name, author)) is not None}
    lines = returned.fields.get("max_lines")
    if isinstance(lines, float) and lines.is_integer():
        lines = int(lines)
    if isinstance(lines, int) and not isinstance(lines, bool) and lines >= 0:
        hints["max_lines"] = lines
    elif lines is not None:
        author.warn(f"returned `max_lines` that is {what(lines)}; a whole number from 0 is needed, so it is left out")
    return Display(**hints) if hints else None


def _text(returned: Transform, name: str, author: Author) -> str | None:
    """The string `name` of a transform; anything else counts as left out."""
    value = returned.fields.get(name)
    if value is None or isinstance(value, str):
        return value
    if not returned.echoed:
        author.warn(f"returned `{name}` that is {what(value)}; a string is needed, so it is left out")
    return None
