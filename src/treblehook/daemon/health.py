"""`GET /healthz`: whether the daemon is well; it asks for no key, so it tells nothing but numbers and what is broken."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from treblehook.daemon.http.answers import answer
from treblehook.daemon.http.operation import Answered, Operation


class Fact(Struct, frozen=True):
    """One thing that was looked at: `count` is how many of it there are; `wrong` says what is broken, "" where it is well."""

    what: str
    count: int
    wrong: str = ""


class Health(Struct, frozen=True):
    """`degraded` is a daemon that answers while something of it is broken; each fact says what."""

    status: Literal["ok", "degraded"]
    version: str
    uptime_seconds: int
    facts: list[Fact]


def health_operation(facts: Callable[[], Sequence[Fact]], version: str, uptime: Callable[[], float]) -> Operation:
    """The route; `facts` is asked at each request."""

    async def tell(request: Request) -> Response:
        found = list(facts())
        return answer(Health("degraded" if any(fact.wrong for fact in found) else "ok", version, int(uptime()), found))

    return Operation("GET", "/healthz", "getHealth", "How the daemon is", {200: Answered("It answers", Health)}, handle=tell)
