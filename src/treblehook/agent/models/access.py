"""How a provider is reached: its address, the key, and the proxy in between, all from the environment."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.agent.models.spec import Provider


class Access(Struct, frozen=True):
    """What a request needs besides its content.

    `key` is "" for a server that asks for none, `key_variable` says where it came from (or may come from), `own_url` whether
    the user named the address. `proxy` is None where the server is reached directly.
    """

    url: str
    own_url: bool
    key: str
    key_variable: str
    proxy: str | None

    def __repr__(self) -> str:
        return f"Access(url={self.url!r}, key_variable={self.key_variable!r}, proxy={self.proxy!r})"


def find_access(spec: str, provider: Provider, environ: Mapping[str, str]) -> Access:
    """Read the environment. Raises `ModelSpecInvalid` for an address that is none, or where a key is missing."""
    given = environ.get(provider.url_variable, "")
    if given and not (given.startswith(("http://", "https://")) and urlsplit(given).hostname):
        raise ModelSpecInvalid(spec, f"{provider.url_variable} is {given!r}; it must be a URL such as {provider.url}")
    url = given or provider.url
    variable = next((name for name in provider.keys if environ.get(name)), provider.keys[0])
    key = environ.get(variable, "")
    # A server that speaks OpenAI's protocol on the user's own machine mostly asks for no key.
    if not key and not (given and provider.library == "openai"):
        others = "".join(f" or {name}" for name in provider.keys[1:])
        raise ModelSpecInvalid(spec, f"no key: set {provider.keys[0]}{others}")
    return Access(url, bool(given), key, variable, _proxy(url, environ))


def _proxy(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy for an address, by the variables that curl reads; this machine itself is never reached through one."""
    host = urlsplit(url).hostname or ""
    if _is_loopback(host) or _is_excepted(host, _either(environ, "no_proxy")):
        return None
    proxy = _either(environ, f"{urlsplit(url).scheme}_proxy") or _either(environ, "all_proxy")
    if not proxy:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_excepted(host: str, names: str) -> bool:
    """Whether a comma-separated list has `*`, the host, or a domain that it is in."""
    entries = [name.strip().lower().lstrip("*.") or name.strip() for name in names.split(",")]
    return "*" in entries or any(entry and f".{host}".endswith(f".{entry}") for entry in entries)


def _either(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.upper()) or ""


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # A name, not an address.
        return False
