"""`cru.tools`: the tools of a session (crucible.md 10.2), of the one that the call belongs to unless the option `session` names another.

A call takes the user's permission rules and the gates, and not the hooks of a model's call: `pre_tool_call` does not see it (3.1).
"""

from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.json_text import JsonInvalid, for_json
from treblehook.contracts.crucible.library.kinds import TABLE, WORD, list_of
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.library.reached import reach_of
from treblehook.host.reach import ReachRefused


def install(library: Library) -> None:
    library.lua.provide_async("cru.tools.call", lambda *given: _call(library, given))
    library.lua.provide("cru.tools.list", lambda *given: _list(library, given))
    library.lua.provide("cru.tools.set_active", lambda *given: _set_active(library, given))
    library.lua.provide("cru.tools.get_active", lambda *given: _get_active(library, given))


async def _call(library: Library, given: tuple[object, ...]) -> dict[str, Any]:
    """`ok`, `result`, and `error` in place of the result where it failed; as `tool_result` names them."""
    call = Arguments("cru.tools.call", given)
    name, arguments = call.take("name", WORD), call.may_take("args", TABLE, {})
    session = library.session(call.function, call.options("session"))
    try:
        output = await reach_of(library, call).call_tool(session, name, for_json(arguments))
    except (ReachRefused, JsonInvalid) as refusal:
        call.refuse(str(refusal))
    failed = output.is_error
    return {"ok": not failed, "result": "" if failed else output.content, "error": output.content if failed else None}


def _list(library: Library, given: tuple[object, ...]) -> list[dict[str, Any]]:
    """Every tool that the session has, whether its turns offer it or not; `parameters` is a JSON schema."""
    call = Arguments("cru.tools.list", given)
    session = library.session(call.function, call.options("session"))
    try:
        tools = reach_of(library, call).tools(session)
    except ReachRefused as refusal:
        call.refuse(str(refusal))
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]


def _set_active(library: Library, given: tuple[object, ...]) -> None:
    """From the next turn on only these are offered."""
    call = Arguments("cru.tools.set_active", given)
    names = call.take("names", list_of(WORD))
    session = library.session(call.function, call.options("session"))
    try:
        reach_of(library, call).offer(session, names)
    except ReachRefused as refusal:
        call.refuse(str(refusal))


def _get_active(library: Library, given: tuple[object, ...]) -> list[str]:
    """The names that the next turn offers."""
    call = Arguments("cru.tools.get_active", given)
    session = library.session(call.function, call.options("session"))
    try:
        return list(reach_of(library, call).offered(session))
    except ReachRefused as refusal:
        call.refuse(str(refusal))
