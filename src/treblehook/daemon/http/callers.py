"""Who calls: through which name, and from where (crucible.md 8.2 and 8.3)."""

import ipaddress
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

Headers = list[tuple[bytes, bytes]]

_AUTHORITY: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+))(?::([0-9]{1,5}))?")
_LOOPBACK_NAME: Final = "localhost"


class Hosts:
    """The host names by which this daemon may be called. A page on another name that resolves to us (DNS rebinding) is none."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {_plain(name) for name in names}

    def allow(self, headers: Headers) -> bool:
        """Whether the one `Host` is ours; there must be one."""
        hosts = values(headers, b"host")
        return len(hosts) == 1 and self._ours(hosts[0])

    def allow_origin(self, headers: Headers) -> bool:
        """Whether the page that sends this, if any does, is ours: a browser tells its `Origin` with whatever changes something."""
        return all(self._ours(urlsplit(origin).netloc) for origin in values(headers, b"origin"))

    def _ours(self, authority: str) -> bool:
        name = _name_of(authority)
        return name is not None and (name == _LOOPBACK_NAME or is_loopback(name) or name in self._names)


def from_loopback(scope: Any) -> bool:
    """Whether the TCP peer and every hop of every `X-Forwarded-For` is loopback. A hop that is no address is not."""
    client = scope.get("client")
    if client is None or not is_loopback(client[0]):
        return False
    forwarded = values(scope["headers"], b"x-forwarded-for")
    return all(is_loopback(hop.strip()) for value in forwarded for hop in value.split(","))


def is_loopback(address: str) -> bool:
    """Whether `address` is an IP address of this machine's own, also in the form `::ffff:127.0.0.1`."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def values(headers: Headers, name: bytes) -> list[str]:
    """The values of a header, whose name is given in lower case."""
    return [value.decode("latin-1") for key, value in headers if key == name]


def joined(headers: Headers, name: bytes) -> str | None:
    """The value of a header; one that is repeated is one value with commas (RFC 9110, 5.3). None where it is missing."""
    found = values(headers, name)
    return ", ".join(found) if found else None


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
