"""`[web]` of `config.toml`: where the daemon listens, and who may call it."""

import ipaddress
import re
from typing import Any, Final

from msgspec import Struct

from treblehook.home.table import Table
from treblehook.host.problems import Problem

SHORT_KEY: Final = 16
"""A key of fewer characters can be guessed."""

_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


class WebSettings(Struct, frozen=True):
    """`hosts` are the names beside the loopback ones that a Host header may have. `api_key` is None for the key in
    `<home>/token`, and "" where none is asked for."""

    host: str = "127.0.0.1"
    port: int = 3000
    hosts: tuple[str, ...] = ()
    api_key: str | None = None


def web_settings(values: dict[str, Any], file: str) -> tuple[WebSettings, list[Problem]]:
    """What `values`, the table `[web]` of `file`, sets, and everything that is wrong with it; a wrong key has its default."""
    problems: list[Problem] = []
    # Everywhere else an empty text is a mistake; here it is what turns the layer off (crucible.md 8.3).
    off = values.get("api_key") == ""
    table = Table({key: value for key, value in values.items() if key != "api_key" or not off}, file, "web", problems)
    settings = WebSettings(
        host=_host(table) or WebSettings().host,
        port=_port(table) or WebSettings().port,
        hosts=tuple(_hosts(table)),
        api_key=_key(table, off=off),
    )
    table.unknown()
    return settings, problems


def _host(table: Table) -> str | None:
    host = table.text("host")
    if host is not None and not (is_address(host) or _NAME.fullmatch(host)):
        table.wrong(table.at("host"), host, 'an address or a name to listen on, such as "127.0.0.1", without a port')
        return None
    return host


def _port(table: Table) -> int | None:
    port = table.count("port", "a port")
    if port is not None and port > 65535:
        table.wrong(table.at("port"), port, "a port, from 1 to 65535")
        return None
    return port


def _hosts(table: Table) -> list[str]:
    hosts = []
    for index, host in enumerate(table.texts("hosts")):
        if is_address(host.strip("[]")) or _NAME.fullmatch(host):
            hosts.append(host)
        else:
            table.wrong(
                table.at("hosts", index), host, 'a name as it stands in a URL, such as "hooks.example.org", without scheme and port'
            )
    return hosts


def _key(table: Table, *, off: bool) -> str | None:
    key = table.text("api_key")
    place = table.at("api_key")
    if off:
        message = "it is empty: every caller who reaches the port may do everything, without a key"
        table.problems.append(Problem(table.file, place, message, "leave it out to use the key in `token`", level="warning"))
        return ""
    if key is not None and not (key.isascii() and key.isprintable() and key == key.strip()):
        table.wrong(place, "a text that no header can carry", "printable ASCII characters, without spaces around them")
        return None
    if key is not None and len(key) < SHORT_KEY:
        message = f"it has {len(key)} characters and can be guessed"
        table.problems.append(Problem(table.file, place, message, f"use {SHORT_KEY} characters or more", level="warning"))
    return key


def is_address(text: str) -> bool:
    """Whether `text` is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
