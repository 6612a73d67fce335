"""The three signature schemes of webhooks (crucible.md 8.5)."""

import hashlib
import hmac
import re
from typing import Final

from msgspec import Struct

from treblehook.daemon.http.callers import Headers, text_of

CRUCIBLE: Final = b"x-crucible-signature"
STRIPE: Final = b"stripe-signature"
GITHUB: Final = b"x-hub-signature-256"

SIGNATURE_HEADERS: Final = (CRUCIBLE, STRIPE, GITHUB)
"""The strongest first: the first one that is there decides."""

FRESH_SECONDS: Final = 300
"""How far the time of a delivery may be from now, either way."""

_SECONDS: Final = re.compile(r"[0-9]{1,18}")
_TAG: Final = re.compile(r"[0-9A-Fa-f]{64}")
_NOBODY: Final = b"no webhook of this name has a secret"


class Claim(Struct, frozen=True):
    """What a sender says: `tag` is the HMAC-SHA256 of `prefix` and the body; `at` is when it was signed, in seconds since 1970,
    None for a scheme that does not tell."""

    tag: bytes
    prefix: bytes = b""
    at: int | None = None


_NO_CLAIM: Final = Claim(bytes(hashlib.sha256().digest_size))


def read_claim(headers: Headers) -> Claim | None:
    """What the strongest signature header says; None where there is none, or it is malformed, whatever a weaker one says."""
    for name in SIGNATURE_HEADERS:
        value = text_of(headers, name)
        if value is not None:
            return _body_only(value) if name == GITHUB else _timestamped(value)
    return None


def verified(secret: bytes | None, claim: Claim | None, body: bytes, now: float) -> bool:
    """Whether `claim` holds. Whatever is wrong, it takes as long: the HMAC is made even without a secret or a claim."""
    said = claim or _NO_CLAIM
    tag = hmac.digest(secret or _NOBODY, said.prefix + body if said.prefix else body, "sha256")
    same = hmac.compare_digest(tag, said.tag)
    fresh = said.at is None or abs(int(now) - said.at) <= FRESH_SECONDS
    return same and fresh and secret is not None and claim is not None


def _timestamped(value: str) -> Claim | None:
    """`t=SECONDS,v1=HEX`, in any order, and once each; other fields are somebody else's."""
    fields = [(key.strip(), text.strip()) for key, _, text in (field.partition("=") for field in value.split(","))]
    times = [text for key, text in fields if key == "t"]
    tags = [text for key, text in fields if key == "v1"]
    if len(times) != 1 or len(tags) != 1 or not _SECONDS.fullmatch(times[0]) or not _TAG.fullmatch(tags[0]):
        return None
    return Claim(bytes.fromhex(tags[0]), f"{times[0]}.".encode(), int(times[0]))


def _body_only(value: str) -> Claim | None:
    """`sha256=HEX`."""
    prefix, _, tag = value.strip().partition("=")
    return Claim(bytes.fromhex(tag)) if prefix == "sha256" and _TAG.fullmatch(tag) else None
