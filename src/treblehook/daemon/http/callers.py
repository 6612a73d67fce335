"""Who calls: through which name, and from where (crucible.md 8.2 and 8.3)."""

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

Headers = dict[bytes, bytes]
"""Those of a request, as `joined` makes them."""

_AUTHORITY: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+))(?::([0-9]{1,5}))?")
_REMEMBERED: Final = 1024
_LOOPBACK_NAME: Final = "localhost"


class Hosts:
    """The host names by which this daemon may be called. A page on another name that resolves to us (DNS rebinding) is none."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {_plain(name) for name in names}
        self._known: dict[bytes, bool] = {}

    def allow(self, headers: Headers) -> bool:
        """Whether the `Host` is ours; several are none."""
        return self._ours(headers.get(b"host", b""))

    def allow_origin(self, headers: Headers) -> bool:
        """Whether the page that sends this, if any does, is ours: a browser tells its `Origin` with whatever changes something."""
        origin = headers.get(b"origin")
        return origin is None or self._ours(origin.partition(b"://")[2])

    def _ours(self, authority: bytes) -> bool:
        known = self._known.get(authority)
        if known is None:
            name = _name_of(authority.decode("latin-1"))
            known = name is not None and (name == _LOOPBACK_NAME or is_loopback(name) or name in self._names)
            if len(self._known) < _REMEMBERED:
                self._known[authority] = known
        return known


def from_loopback(peer: tuple[str, int] | None, headers: Headers) -> bool:
    """Whether the TCP peer and every hop of `X-Forwarded-For` is loopback. A hop that is no address is not."""
    if peer is None or not is_loopback(peer[0]):
        return False
    forwarded = text_of(headers, b"x-forwarded-for")
    return forwarded is None or all(is_loopback(hop.strip()) for hop in forwarded.split(","))


@lru_cache(maxsize=_REMEMBERED)
def is_loopback(address: str) -> bool:
    """Whether `address` is an IP address of this machine's own, also in the form `::ffff:127.0.0.1`."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def joined(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers by their names, which are lower case already; one that is repeated is one value with commas (RFC 9110, 5.3)."""
    found: Headers = {}
    for name, value in headers:
        found[name] = value if name not in found else found[name] + b", " + value
    return found


def text_of(headers: Headers, name: bytes) -> str | None:
    """The value of a header; None where it is missing."""
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")


def _name_of(authority: str) -> str | None:
    """The host of `host:port`, without the brackets of an IPv6 address; None for what is no such thing."""
    found = _AUTHORITY.fullmatch(authority)
    return None if found is None or int(found[3] or 0) > 65535 else _plain(found[1] or found[2])


def _plain(name: str) -> str:
    name = name.strip("[]").lower()
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name
