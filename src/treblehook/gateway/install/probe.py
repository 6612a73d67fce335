"""A call that means nothing, sent the way on which an agent would send a real one."""

import asyncio
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from treblehook.gateway.install.entries import command_of
from treblehook.gateway.install.homes import plugin_facts
from treblehook.gateway.service import PROBE

PROBE_SECONDS: Final = 60.0
"""How long an answer may take: the first one may have to start the daemon."""

_PAYLOAD: Final = json.dumps({"session_id": "treblehook-doctor-probe", "hook_event_name": PROBE}).encode()
_NO_OPINION: Final = b"{}"


class Probe(Struct, frozen=True):
    """One way to the gateway, that of `event`: a command line for `sh`, or the words of a program, or a URL with its headers."""

    event: str
    command: str = ""
    words: tuple[str, ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def way(self) -> str:
        """In words."""
        return self.url.partition("?")[0] if self.url else f"the command of {self.event}"


class Probed(Struct, frozen=True):
    """What came of it: `ms` until the answer, and what is wrong, "" for nothing."""

    ms: float
    fault: str = ""


def probes(agent: str, handlers: Mapping[str, Iterable[Any]]) -> list[Probe]:
    """The distinct ways in an agent's handlers, by event. Commands come first: they start the daemon that HTTP needs."""
    found = _distinct(_probe(agent, event, handler) for event, each in handlers.items() for handler in each)
    return sorted(found, key=lambda probe: bool(probe.url))


def plugin_probes(text: str) -> list[Probe]:
    """The distinct clients that an agent's plugin starts where nobody listens."""
    clients = ((event, values["client"]) for event, values in plugin_facts(text)["events"].items())
    return _distinct(Probe(event, words=tuple(PROBE if word == event else word for word in words)) for event, words in clients)


def _probe(agent: str, event: str, handler: Any) -> Probe:
    name = re.compile(rf"(\?event=|{re.escape(agent)}\s+){re.escape(event)}\b")
    command = command_of(handler)
    if command is not None:
        return Probe(event, command=name.sub(rf"\1{PROBE}", command))
    given = handler.get("headers")
    headers = tuple((str(key), str(value)) for key, value in given.items()) if isinstance(given, dict) else ()
    return Probe(event, url=name.sub(rf"\1{PROBE}", handler["url"]), headers=headers)


def _distinct(found: Iterable[Probe]) -> list[Probe]:
    """Of probes that differ in nothing but their event, the first."""
    ways: dict[tuple[object, ...], Probe] = {}
    for probe in found:
        ways.setdefault((probe.command, probe.words, probe.url, probe.headers), probe)
    return list(ways.values())


async def fire(probe: Probe, environ: Mapping[str, str], *, seconds: float = PROBE_SECONDS) -> Probed:
    """Send it, and look at the answer."""
    begun = time.monotonic()
    if probe.url:
        fault = await asyncio.to_thread(_posted, probe, seconds)
    else:
        fault = await _run(probe.words or ("/bin/sh", "-c", probe.command), environ, seconds)
    return Probed((time.monotonic() - begun) * 1000, fault)


async def _run(words: tuple[str, ...], environ: Mapping[str, str], seconds: float) -> str:
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(environ))
    except OSError as error:
        return f"{words[0]} cannot be started: {error.strerror}"
    try:
        async with asyncio.timeout(seconds):
            out, err = await process.communicate(_PAYLOAD)
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"no answer within {seconds:g} s"
    said = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if process.returncode != 0:
        return f"exit status {process.returncode}: {said}"
    answer = out.strip()
    # What lets pass without an answer says so.
    return f"no answer: {said}" if answer != _NO_OPINION and (said or not answer) else _fault(out)


def _posted(probe: Probe, seconds: float) -> str:
    # What this user's environment says of proxies is for other machines.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(probe.url, _PAYLOAD, {"Content-Type": "application/json", **dict(probe.headers)}, method="POST")
    try:
        with opener.open(request, timeout=seconds) as response:
            return _fault(response.read())
    except urllib.error.HTTPError as error:
        return f"HTTP status {error.code}"
    except (urllib.error.URLError, OSError) as error:
        return f"no answer: {getattr(error, 'reason', error)}"


def _fault(answer: bytes) -> str:
    return "" if answer.strip() == _NO_OPINION else f"found the answer {answer[:60]!r}, which is not the gateway's"
