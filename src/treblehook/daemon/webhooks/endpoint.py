"""`POST /api/webhook/{name}`: from the content type to the 200 (crucible.md 8.2, steps 4 to 7)."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from treblehook.daemon.http.answers import MEDIA_TYPE, ApiError, refused
from treblehook.daemon.http.body import Receive
from treblehook.daemon.http.callers import Headers, text_of
from treblehook.daemon.http.edge import HEADERS, Send
from treblehook.daemon.webhooks.queue import Delivery, DeliveryQueue, NotStored
from treblehook.daemon.webhooks.replays import Replays, Seen
from treblehook.daemon.webhooks.signatures import SIGNATURE_HEADERS, Claim, read_claim, verified

PATH: Final = "/api/webhook/"

_HIDDEN: Final = {"authorization", "cookie", "proxy-authorization", *(name.decode() for name in SIGNATURE_HEADERS)}
"""What hooks are not shown: the caller's credentials and the signature (crucible.md 8.6)."""

_LARGE_BYTES: Final = 256 * 1024
"""From here on a body is hashed beside the event loop."""

_ACCEPTED: Final = b'{"status":"accepted"}\n'
_HEAD: Final = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(_ACCEPTED)).encode())],
}
_BODY: Final = {"type": "http.response.body", "body": _ACCEPTED}


class WebhookEndpoint:
    """Takes deliveries, as an ASGI app. `told` hears `accepted`, or the code of a refusal; `clock` gives seconds since 1970."""

    def __init__(
        self,
        secrets: Mapping[str, bytes],
        queue: DeliveryQueue,
        replays: Replays,
        told: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._secrets = secrets
        self._queue = queue
        self._replays = replays
        self._told = told
        self._clock = clock

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Take one delivery. Raises `ApiError`."""
        try:
            await self._take(scope, (await receive())["body"])
        except ApiError as error:
            self._told(error.wrong.code)
            raise
        self._told("accepted")
        await send(_HEAD)
        await send(_BODY)

    async def _take(self, scope: Any, body: bytes) -> None:
        name, headers = name_in(scope["raw_path"]), scope[HEADERS]
        if name is None:
            raise refused(404, "unknown_path", "a webhook's name is one segment of the path")
        if (text_of(headers, b"content-type") or "").partition(";")[0].strip().lower() != MEDIA_TYPE:
            raise refused(415, "media_type", f"a delivery must have the Content-Type {MEDIA_TYPE}")
        seen = await self._seen(name, headers, body)
        try:
            body.decode()
        except UnicodeDecodeError as error:
            raise refused(400, "no_text", f"the body is no UTF-8 text: byte {error.start}") from error
        try:
            await self._queue.add(Delivery(name, shown(scope["headers"]), body), seen)
        except NotStored as error:
            # Nobody has it, so it is no replay when it is sent again.
            self._replays.forget(seen)
            raise refused(502, "not_stored", "the delivery could not be stored; send it again later") from error

    async def _seen(self, name: str, headers: Headers, body: bytes) -> Seen:
        """The verified tag, remembered. Raises one and the same `ApiError` whatever is wrong."""
        claim = read_claim(headers)
        now = self._clock()
        secret = self._secrets.get(name)
        good = (
            verified(secret, claim, body, now) if len(body) < _LARGE_BYTES else await asyncio.to_thread(verified, secret, claim, body, now)
        )
        seen = self._first(claim, now) if good else None
        if seen is None:
            raise refused(401, "signature_refused", "the delivery is not signed as this webhook needs it")
        return seen

    def _first(self, claim: Claim | None, now: float) -> Seen | None:
        return None if claim is None else self._replays.take(claim, now)


def name_in(raw_path: bytes) -> str | None:
    """The webhook's name, percent-decoded; None where it is not one segment."""
    segment = raw_path.decode("latin-1").removeprefix(PATH)
    return unquote(segment) if segment and "/" not in segment else None


def shown(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers as hooks see them: lower-case names, text only, of repeated ones the last."""
    found = {}
    for name, value in headers:
        try:
            found[name.decode()] = value.decode()
        except UnicodeDecodeError:
            # It is no text.
            continue
    return {name: value for name, value in found.items() if name not in _HIDDEN}
