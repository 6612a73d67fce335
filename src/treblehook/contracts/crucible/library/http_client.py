"""One HTTP request for a hook, with a deadline and a bound for the answer; what goes wrong on the way is an answer too."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    import httpx2

BODY_BYTES: Final = 16 * 1024 * 1024
"""The longest body of an answer: a VM has 64 MiB for everything."""
REDIRECTS: Final = 10


class HttpRequest(Struct, frozen=True):
    """What is sent. `query` is added to what the URL has already; `seconds` bounds the whole exchange, redirects included."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    query: Mapping[str, str]
    seconds: float
    follow_redirects: bool


class HttpAnswer(Struct, frozen=True):
    """What came back: `status` is 0 where no whole answer did, and `error` says why. Header names are in lower case, the values
    of a repeated one joined with `, `."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    error: str = ""


class UrlRefused(Exception):
    """The URL is none, or not one of HTTP; the message says what is wrong with it."""


class HttpClient:
    """Sends requests for every plugin of a host. Nothing is loaded before the first; proxies and certificates are the ones that the
    usual environment variables name. No cookie is kept, so that plugins do not meet in them, and no idle connection."""

    def __init__(self, body_bytes: int = BODY_BYTES) -> None:
        self._body_bytes = body_bytes
        self._client: httpx2.AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Send it and wait for the whole answer. Raises `UrlRefused`; every other failure is in the answer."""
        client = await self._opened()
        import httpx2

        try:
            url = httpx2.URL(request.url)
            built = client.build_request(
                request.method,
                url.copy_merge_params(request.query) if request.query else url,
                headers=[(name.encode(), value.encode()) for name, value in request.headers.items()],
                content=request.body or None,
            )
        except httpx2.InvalidURL as error:
            raise UrlRefused(str(error)) from error
        if built.url.scheme not in ("http", "https") or not built.url.host:
            raise UrlRefused("it is no address of a server; allowed: http://… and https://…")
        try:
            async with asyncio.timeout(request.seconds):
                return await self._exchange(client, built, request.follow_redirects)
        except TimeoutError:
            return _failed(f"not finished after {request.seconds:g} s")
        except httpx2.TooManyRedirects:
            return _failed(f"more than {REDIRECTS} redirects")
        except httpx2.HTTPError as error:
            return _failed(str(error) or type(error).__name__)

    async def _exchange(self, client: "httpx2.AsyncClient", built: "httpx2.Request", follow_redirects: bool) -> HttpAnswer:
        response = await client.send(built, stream=True, follow_redirects=follow_redirects)
        try:
            headers = _headers(response)
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self._body_bytes:
                    return HttpAnswer(response.status_code, headers, b"", f"the body is longer than {self._body_bytes} bytes")
            return HttpAnswer(response.status_code, headers, bytes(body))
        finally:
            await response.aclose()

    async def _opened(self) -> "httpx2.AsyncClient":
        async with self._opening:
            if self._client is None:
                # The import and the certificates take a tenth of a second, for which the loop would stand still.
                self._client = await asyncio.to_thread(_open)
            return self._client


def _open() -> "httpx2.AsyncClient":
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx2

    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx2.AsyncClient(
        cookies=no_cookies,
        headers={"user-agent": "treblehook"},
        timeout=None,
        limits=httpx2.Limits(max_keepalive_connections=0),
        max_redirects=REDIRECTS,
    )


def _headers(response: "httpx2.Response") -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _failed(why: str) -> HttpAnswer:
    return HttpAnswer(0, {}, b"", why)
