"""`POST /hooks/{agent}?event=NAME`: the body as the agent sends it, the answer as it honours it."""

from typing import Any, Final
from urllib.parse import parse_qs

from treblehook.daemon.http.answers import MEDIA_TYPE, ApiError, refused
from treblehook.daemon.http.body import Receive
from treblehook.daemon.http.edge import Send
from treblehook.daemon.http.operation import Answered, Operation, Parameter
from treblehook.gateway.agents import AgentUnknown
from treblehook.gateway.service import Gateway

PATH: Final = "/hooks/"

_TYPE: Final = (b"content-type", MEDIA_TYPE.encode())


class HookEndpoint:
    """Takes hook calls, as an ASGI app."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Take one call. Raises `ApiError`."""
        if scope["method"] != "POST":
            raise ApiError(405, refused(405, "method_not_allowed", "a hook call is a POST").wrong, {"allow": "POST"})
        agent = scope["path"].removeprefix(PATH)
        try:
            answer = await self._gateway.answer(agent, _event(scope["query_string"]), (await receive())["body"])
        except AgentUnknown as unknown:
            raise refused(404, "unknown_agent", str(unknown)) from unknown
        headers = [_TYPE, (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


def _event(query: bytes) -> str:
    """The agent's own name of its event, "" where it is not told."""
    if query.startswith(b"event=") and query[6:].isalnum():
        return query[6:].decode()
    return parse_qs(query.decode("latin-1")).get("event", [""])[0]


def hook_operation(endpoint: HookEndpoint) -> Operation:
    """The route, as the document tells it."""
    event = Parameter("event", "query", {"type": "string"}, "The agent's own name of its event, where the body does not tell it.")
    return Operation(
        "POST",
        f"{PATH}{{agent}}",
        "askHooks",
        "Ask the hooks about a call of an outside agent",
        {200: Answered("What this agent honours; an empty object means no opinion")},
        "The body is the agent's own. Whatever is wrong with it, the answer is a 200 with the stricter answer that this agent "
        "understands, since agents take an error for an allowance. The key is needed from loopback too.",
        app=endpoint,
        raw=MEDIA_TYPE,
        parameters=(event,),
        errors=(404,),
    )
