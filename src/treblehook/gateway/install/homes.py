"""Which homes what is installed asks: one, unless somebody has put entries of another in by hand."""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from treblehook.gateway.install.entries import command_of

_CLIENT: Final = "treblehook/gateway/client/client.py"
_AFTER_CLIENT: Final = 5
"""The words behind the client: the agent, its event, the policy, the socket, the home."""


def homes_of(handlers: Iterable[Any]) -> list[Path]:
    """The homes that our handlers ask; one that is called over HTTP does not tell."""
    commands = (command_of(handler) for handler in handlers)
    return list(dict.fromkeys(home for command in commands if command is not None for home in _homes(_words(command))))


def plugin_facts(text: str) -> dict[str, Any]:
    """What a plugin of ours has been told when it was written: among others, by event, the `client` that it starts where nobody listens."""
    match = re.search(r"^const TREBLEHOOK = (\{.*?^\})$", text, re.DOTALL | re.MULTILINE)
    try:
        facts: dict[str, Any] = json.loads(match.group(1)) if match else {"events": {}}
    except json.JSONDecodeError:
        # Somebody has edited what is written anew at the next installation.
        return {"events": {}}
    return facts


def homes_of_plugin(text: str) -> list[Path]:
    """The homes that a plugin of ours asks."""
    return list(dict.fromkeys(home for values in plugin_facts(text)["events"].values() for home in _homes(values["client"])))


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
        return shlex.split(words[2]) if words[:2] == ["sh", "-c"] and len(words) > 2 else words
    except ValueError:
        # A quotation without an end has been edited by somebody, and asks nobody.
        return []


def _homes(words: Sequence[str]) -> Iterator[Path]:
    for at, word in enumerate(words):
        if word.endswith(_CLIENT) and len(words) > at + _AFTER_CLIENT:
            yield Path(words[at + _AFTER_CLIENT])
