"""Signed deliveries, made as the senders' own documents say, with `hmac` alone."""

import hashlib
import hmac
from typing import Any

SECRET = "secret-secret-secret"
Headers = dict[str, str]


def stripe(secret: str, body: bytes, timestamp: int) -> str:
    """`Stripe-Signature`, by the recipe of Stripe: the time, a dot, the body as it is sent."""
    signed_payload = str(timestamp).encode() + b"." + body
    signature = hmac.new(secret.encode(), signed_payload, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={signature},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39"


def github(secret: str, body: bytes) -> str:
    """`X-Hub-Signature-256`, by the recipe of GitHub."""
    return "sha256=" + hmac.new(secret.encode(), msg=body, digestmod=hashlib.sha256).hexdigest()


def crucible(secret: str, body: bytes, timestamp: int) -> str:
    """`X-Crucible-Signature`."""
    return f"t={timestamp},v1={hmac.new(secret.encode(), f'{timestamp}.'.encode() + body, 'sha256').hexdigest()}"


def signed(body: bytes, secret: str = SECRET, **more: str) -> Headers:
    """The headers of a delivery from GitHub; `more` with `_` for `-`."""
    headers = {"content-type": "application/json", "x-hub-signature-256": github(secret, body), "x-github-event": "push"}
    return {**headers, **{name.replace("_", "-"): value for name, value in more.items()}}


def secrets_file(**secrets: Any) -> str:
    """A webhooks.toml."""
    return "".join(f'[webhooks.{name}]\nsecret = "{secret}"\n' for name, secret in secrets.items())


def delivering(body: bytes, *more: str) -> bytes:
    """A whole request that delivers to `ci`, as it goes over the wire."""
    lines = [f"{name}: {value}" for name, value in signed(body).items()]
    head = ["POST /api/webhook/ci HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *lines, *more, "", ""]
    return "\r\n".join(head).encode() + body
