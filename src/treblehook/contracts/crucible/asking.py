"""Asking a Lua function about an event: its payload in, its decision out."""

from typing import Any, Final

from treblehook.contracts.crucible.author import Author
from treblehook.contracts.crucible.caller import Caller
from treblehook.contracts.crucible.events import EVENTS, HookEvent
from treblehook.contracts.crucible.names import nearest
from treblehook.contracts.crucible.plain import ReturnInvalid
from treblehook.contracts.crucible.problems import hook_problem
from treblehook.contracts.crucible.returned import DIRECTIVES, Cancelled, Handled, Injected, Returned, Transform, classify
from treblehook.engine import HookFailed
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Decision, Event
from treblehook.runtimes.lua import LuaFailed, LuaFunction, LuaReturn, LuaVM

SECONDS: Final = 30.0
"""How long a handler of `cru.on` may wait (crucible.md D15); how long it may compute, its machine knows."""


def asking(lua: LuaVM, hook: HookEvent, function: LuaFunction, author: Author) -> Ask:
    """How `function` is asked. Each call has a `ctx` and an event of its own.

    What is the same for every call is looked up once: this is where a Lua handler spends its time.
    """
    call = lua.handler(function)
    payload = hook.payload
    # Most occurrences in a row belong to one session.
    session = ""
    ctx: dict[str, str] = {}
    about = Caller(None, author.code, hook.name, author.name)

    async def ask(event: Any) -> Decision | None:
        nonlocal session, ctx, about
        if event.session != session:
            session = event.session
            ctx = {"session_id": session} if session else {}
            about = Caller(session or None, author.code, hook.name, author.name)
        try:
            returned = await call(ctx, payload(event), about, SECONDS)
        except LuaFailed as error:
            raise hook_problem(error, author, SECONDS) from error
        return None if returned.kind == "nil" else decided(hook, returned, event, author)

    return ask


def decided(hook: HookEvent, returned: LuaReturn, event: Event, author: Author) -> Decision | None:
    """What a handler decided. Raises `HookFailed` for what cannot be used, which counts as an error of the handler."""
    try:
        found = classify(returned, author)
        if found is None:
            return None
        _tell_what_is_ignored(hook, found, author)
        return hook.answer(found, event, author)
    except ReturnInvalid as invalid:
        text = f"{author.file}:{author.line}: the handler {invalid}"
        author.failed(text)
        raise HookFailed(text) from invalid


def _tell_what_is_ignored(hook: HookEvent, found: Returned, author: Author) -> None:
    """A key that nobody reads is most likely misspelt; a directive that the event does not honour is ignored, as documented."""
    if isinstance(found, Transform):
        if hook.of_daemon:
            author.debug("returned a table, which has no effect on what has happened")
        elif not found.echoed and (hook.keys or hook.directives):
            _tell_unknown_keys(hook, found, author)
        return
    directive = _DIRECTIVE_OF.get(type(found))
    if directive is not None and hook.of_daemon and directive not in hook.directives:
        author.debug(f"returned `{directive}`, which has no effect on what has happened")


_DIRECTIVE_OF: Final[dict[type[Returned], str]] = {Injected: "inject", Handled: "handled", Cancelled: "cancel"}


def _tell_unknown_keys(hook: HookEvent, found: Transform, author: Author) -> None:
    known = _KNOWN[hook.name]
    for key in found.fields:
        if key not in known:
            meant = f", did you mean `{nearest(key, tuple(known))}`?" if isinstance(key, str) else ""
            author.warn(f"returned the key `{key}`, which has no effect{meant}")


_KNOWN: Final = {name: dict.fromkeys((*hook.keys, *DIRECTIVES, "reason")) for name, hook in EVENTS.items()}
"""The keys that a returned table may have, by event, in the order in which they are suggested."""
