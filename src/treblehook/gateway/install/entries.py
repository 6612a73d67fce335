"""What stands in an agent's settings for each of its events, and how our own entries are known again."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

from msgspec import Struct

from treblehook.gateway.codec import Codec, Hooked
from treblehook.gateway.install.places import Dialect
from treblehook.gateway.lines import ClientPlace, command_line, http_url
from treblehook.lifecycle import Event, SessionStart

Form = Literal["http", "open", "closed"]
"""How an event is called: over HTTP, which opens where nobody answers, or by a command with that policy."""


class HttpAccess(Struct, frozen=True):
    """The daemon's URL without a path, and the key that it asks for, "" where it asks for none."""

    base: str
    key: str


def forms_of(codec: Codec, closed: Collection[type[Event]], *, http: bool) -> dict[str, Form]:
    """The form of every event that is installed. What must not be lost goes by a command, and so does the start of a session: it starts
    the daemon, which nobody does over HTTP."""
    guarded = guarded_at(codec, closed)
    return {hooked.name: _form(hooked, closed=hooked.name in guarded, http=http) for hooked in codec.hooked}


def guarded_at(codec: Codec, closed: Collection[type[Event]]) -> frozenset[str]:
    """The agent's events at which a call must not be lost: a closed handler is asked there, and no answer can stand for a refusal. At the
    end of a turn it cannot: a command that fails sends the model back, in some agents for ever."""
    asked = (one for one in codec.hooked if any(event in closed for event in one.events))
    return frozenset(one.name for one in asked if SessionStart in one.events or codec.refuse(one.name, "lost"))


def entries_of(agent: str, forms: Mapping[str, Form], dialect: Dialect, place: ClientPlace, http: HttpAccess | None) -> dict[str, Any]:
    """The entry of each event, as it stands in its list."""
    handlers = {event: _handler(agent, event, form, dialect, place, http) for event, form in forms.items()}
    return {event: {"hooks": [handler]} if dialect.grouped else handler for event, handler in handlers.items()}


def is_own(handler: Any, agent: str) -> bool:
    """Whether a handler of a settings file is ours, from whatever home and Python it was installed."""
    if not isinstance(handler, dict):
        return False
    url = handler.get("url")
    if isinstance(url, str) and re.fullmatch(rf"https?://[^/]+/hooks/{re.escape(agent)}\?event=\w+", url):
        return True
    return any(isinstance(text, str) and _client(agent).search(text) for text in (handler.get("command"), handler.get("bash")))


def command_of(handler: Any) -> str | None:
    """The command line of a handler of a settings file."""
    text = handler.get("command", handler.get("bash")) if isinstance(handler, dict) else None
    return text if isinstance(text, str) else None


def _client(agent: str) -> re.Pattern[str]:
    """Our client with the agent's name behind it, however the path is quoted."""
    return re.compile(rf"treblehook/gateway/client/client\.py['\"\\]*\s+{re.escape(agent)}\s")


def _form(hooked: Hooked, *, closed: bool, http: bool) -> Form:
    if closed:
        return "closed"
    return "http" if http and hooked.http and hooked.events != (SessionStart,) else "open"


def _handler(agent: str, event: str, form: Form, dialect: Dialect, place: ClientPlace, http: HttpAccess | None) -> dict[str, Any]:
    timeout = {dialect.timeout_key: dialect.shorter.get(event, dialect.timeout)}
    if form == "http":
        assert http is not None
        key = {"headers": {"Authorization": f"Bearer {http.key}"}} if http.key else {}
        return {"type": "http", "url": http_url(agent, event, http.base), **key, **timeout}
    return {"type": "command", dialect.command_key: command_line(agent, event, place, closed=form == "closed"), **timeout}
