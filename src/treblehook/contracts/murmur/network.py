"""Which requests a hook may make: `network.allow` of its grant (murmur.md 7.3)."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from treblehook.runtimes.wasm import Requests

_SCHEMES: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")


class Origin(Struct, frozen=True):
    """One entry; None stands for any scheme or port."""

    host: str
    port: int | None = None
    scheme: str | None = None

    def admits(self, scheme: str, host: str, port: int) -> bool:
        """Whether a request to there is allowed."""
        here = host.lower().rstrip(".") == self.host and self.port in (None, port)
        return here and self.scheme in (None, scheme)


def admitting(origins: Sequence[Origin]) -> Requests | None:
    """Which requests may be made, to be asked for each; None where none may."""
    if not origins:
        return None
    return lambda scheme, host, port: any(origin.admits(scheme, host, port) for origin in origins)


def parse_origin(entry: str) -> Origin:
    """`host`, `host:port` or `scheme://host[:port]`. Raises ValueError with what is wrong (E-CAP-001)."""
    if "://" not in entry:
        host, port = _host_and_port(entry, entry)
        return Origin(host, port)
    url = urlsplit(entry)
    if url.scheme.lower() not in _SCHEMES:
        raise ValueError(f"found {entry!r}; the scheme must be http or https")
    if url.path or url.query or url.fragment or "?" in entry or "#" in entry or "@" in url.netloc:
        raise ValueError(f"found {entry!r}; allowed is scheme://host[:port] without user, path, query or fragment")
    host, port = _host_and_port(url.netloc, entry)
    scheme = url.scheme.lower()
    return Origin(host, port or _SCHEMES[scheme], scheme)


def _host_and_port(text: str, entry: str) -> tuple[str, int | None]:
    host, colon, port = text.rpartition(":") if re.search(r":\d*\Z", text) and not text.endswith("]") else (text, "", "")
    if not _HOST.fullmatch(host):
        raise ValueError(f"found {entry!r}; allowed are host, host:port and scheme://host[:port]")
    if colon and not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise ValueError(f"found {entry!r}; a port is a number from 1 to 65535")
    return host.strip("[]").lower(), int(port) if colon else None
