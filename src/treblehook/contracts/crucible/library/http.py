"""`cru.http`: requests (crucible.md 10.2). What comes back is a table, also where nothing came: `status` 0, `ok` false, `error`.

Redirects are followed, at most ten; a body of more than 16 MiB is left out and told in `error`.
"""

from typing import Any, Final

from treblehook.contracts.crucible.library.arguments import Arguments, Options
from treblehook.contracts.crucible.library.http_client import HttpRequest, UrlRefused
from treblehook.contracts.crucible.library.json_text import JsonInvalid, encoded
from treblehook.contracts.crucible.library.kinds import ANYTHING, FLAG, OCTETS, SOME_SECONDS, WORD, map_of
from treblehook.contracts.crucible.library.library import Library

SECONDS: Final = 30.0
_OPTIONS: Final = ("headers", "body", "json", "query", "timeout", "follow_redirects")


def install(library: Library) -> None:
    for name in ("get", "post", "put", "patch", "delete"):
        library.lua.provide_async(f"cru.http.{name}", _method(library, name))
    library.lua.provide_async("cru.http.request", lambda *given: _request(library, given))


def _method(library: Library, name: str) -> Any:
    async def method(*given: object) -> dict[str, Any]:
        call = Arguments(f"cru.http.{name}", given)
        url = call.take("url", WORD)
        return await _send(library, call, name.upper(), url, call.options(*_OPTIONS))

    return method


async def _request(library: Library, given: tuple[object, ...]) -> dict[str, Any]:
    call = Arguments("cru.http.request", given)
    options = call.options("url", "method", *_OPTIONS, required=True)
    url = options.read("url", WORD)
    if url is None:
        call.refuse("the option `url` is missing; allowed: http://… and https://…")
    return await _send(library, call, options.read("method", WORD, "GET").upper(), url, options)


async def _send(library: Library, call: Arguments, method: str, url: str, options: Options) -> dict[str, Any]:
    headers = options.read("headers", map_of(WORD), {})
    for name, value in headers.items():
        if not name.isascii() or any(character in name + value for character in "\r\n\0"):
            call.refuse(f"the option `headers` has `{name!r}: {value!r}`; allowed: a name in ASCII, and no line end")
    request = HttpRequest(
        method,
        url,
        headers,
        _body(call, options, headers),
        options.read("query", map_of(WORD), {}),
        options.read("timeout", SOME_SECONDS, SECONDS),
        options.read("follow_redirects", FLAG, True),
    )
    try:
        answer = await library.services.http.send(request)
    except UrlRefused as refusal:
        call.refuse(f"the URL is '{url}': {refusal}")
    return {
        "status": answer.status,
        "ok": 200 <= answer.status < 300 and not answer.error,
        "headers": answer.headers,
        "body": answer.body,
        "error": answer.error or None,
    }


def _body(call: Arguments, options: Options, headers: dict[str, str]) -> bytes:
    """The body; `json` is encoded, and names itself in the headers unless they say something else."""
    value = options.read("json", ANYTHING)
    body = options.read("body", OCTETS)
    if value is None:
        return body or b""
    if body is not None:
        call.refuse("the options `body` and `json` exclude each other")
    if not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = "application/json"
    try:
        return encoded(value)
    except JsonInvalid as problem:
        call.refuse(f"the option `json`: {problem}")
