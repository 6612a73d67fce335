"""What `doctor` finds of each agent that the gateway was installed for."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from treblehook.gateway.agents import codec_of
from treblehook.gateway.install.codex_server import CodexFailed
from treblehook.gateway.install.codex_trust import codex_program, key_of, known_keys, listed, switched_off_in_codex
from treblehook.gateway.install.entries import guarded_at
from treblehook.gateway.install.files import find, text_of
from treblehook.gateway.install.homes import homes_of, homes_of_plugin
from treblehook.gateway.install.installing import Gateway, plan_install
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.plugins import PLUGINS
from treblehook.gateway.install.plugins.loading import examine_loading
from treblehook.gateway.install.probe import Probe, fire, plugin_probes, probes
from treblehook.gateway.install.record import Installed
from treblehook.gateway.install.settings import Settings
from treblehook.gateway.install.switches import sources, switched_off
from treblehook.home.health.finding import Finding, found
from treblehook.host.problems import ConfigInvalid

Handlers = Mapping[str, list[tuple[int, int, Any]]]


class _Seen(Struct, frozen=True):
    """An agent's file: its text, its settings without places, and our handlers in it; both are empty for an agent that loads code."""

    text: str
    values: dict[str, Any] = {}
    handlers: Handlers = {}

    def plain(self) -> dict[str, list[Any]]:
        """Our handlers by event."""
        return {event: [handler for _, _, handler in each] for event, each in self.handlers.items()}

    def asks_only(self, home: Path) -> bool:
        """Whether no other home is asked, whose daemon a probe would start."""
        asked = homes_of(handler for each in self.plain().values() for handler in each) or homes_of_plugin(self.text)
        return set(asked) <= {home}


async def examine_installed(installed: Installed, gateway: Gateway, environ: Mapping[str, str], workspace: Path) -> AsyncIterator[Finding]:
    """Whether our entries are as they would be written now, whether the agent asks them when it works in `workspace`, and whether an
    answer comes back through each distinct way in its configuration, unless it asks another home. A probe starts the daemon where none
    runs, as a call of the agent would."""
    agent = installed.agent
    try:
        seen = _see(agent, Path(installed.file))
        if seen is None:
            remedy = f"{_remedy(agent)}; or, to forget it: treblehook uninstall {agent}"
            yield Finding(f"{agent} entries", "error", f"{installed.file} is not there any more", remedy)
            return
        yield _entries(installed, gateway, seen)
    except ConfigInvalid as invalid:
        for problem in invalid.problems:
            yield found(f"{agent} entries", problem)
        return
    for finding in (*_lost(agent, gateway, seen), *_switches(installed, seen, workspace)):
        yield finding
    if agent == "codex":
        yield await _trust(installed, seen, environ, workspace)
    if agent in PLUGINS:
        yield examine_loading(agent, gateway.place.home, Path(installed.file))
    if seen.asks_only(gateway.place.home):
        for probe in probes(agent, seen.plain()) if agent in DIALECTS else plugin_probes(seen.text):
            yield await _probed(agent, probe, environ)


def _see(agent: str, file: Path) -> _Seen | None:
    text = text_of(find(file))
    if text is None:
        return None
    if agent not in DIALECTS:
        return _Seen(text)
    settings = Settings(agent, str(file), DIALECTS[agent])
    return _Seen(text, settings.read(text).root.plain(), settings.own(text))


def _entries(installed: Installed, gateway: Gateway, seen: _Seen) -> Finding:
    what = f"{installed.agent} entries"
    change = plan_install(installed.agent, Path(installed.file), gateway, installed)
    if change.is_none:
        return Finding(what, "ok", f"{installed.file}, {len(codec_of(installed.agent).hooked)} events")
    wanted = _Seen("") if change.after is None else _see_text(installed, change.after.decode())
    now, then = seen.plain(), wanted.plain()
    different = [event for event in dict.fromkeys((*then, *now)) if now.get(event) != then.get(event)]
    which = f": {', '.join(different)}" if different else ""
    others = [str(home) for home in change.homes if home != gateway.place.home]
    whose = f"; it asks the hooks of {', '.join(others)}" if others else ""
    return Finding(what, "error", f"{installed.file} is not as it would be written now{which}{whose}", _remedy(installed.agent))


def _see_text(installed: Installed, text: str) -> _Seen:
    dialect = DIALECTS.get(installed.agent)
    return _Seen(text) if dialect is None else _Seen(text, {}, Settings(installed.agent, installed.file, dialect).own(text))


def _lost(agent: str, gateway: Gateway, seen: _Seen) -> Iterator[Finding]:
    """Guards behind HTTP alone: the agent lets pass what nobody answers."""
    guarded = guarded_at(codec_of(agent), gateway.closed)
    events = [event for event, each in seen.plain().items() if event in guarded and all(one.get("type") == "http" for one in each)]
    if events:
        message = f"a guard stands behind HTTP alone at {', '.join(events)}: where the daemon does not answer, calls pass"
        yield Finding(f"{agent} guards", "error", message, _remedy(agent))


def _switches(installed: Installed, seen: _Seen, workspace: Path) -> Iterator[Finding]:
    settings = sources(installed.agent, Path(installed.file), seen.values, workspace)
    for switch in switched_off(installed.agent, settings, seen.plain()):
        yield Finding(f"{installed.agent} switches", "error", f"{switch.file}: {switch.place}: {switch.does}", "take it out")


async def _trust(installed: Installed, seen: _Seen, environ: Mapping[str, str], workspace: Path) -> Finding:
    what, remedy = "codex trust", "approve them in codex with /hooks, or: treblehook install codex --trust-hooks"
    expected = sum(len(each) for each in seen.handlers.values())
    if (switch := switched_off_in_codex(environ, workspace)) is not None:
        file, feature = switch
        return Finding("codex switches", "error", f"{file}: features.{feature}: no hook is asked at all", "take it out")
    program = codex_program(environ)
    if program is None:
        keys = {key_of(Path(installed.file), event, *place) for event, each in seen.handlers.items() for *place, _ in each}
        missing = len(keys.difference(known_keys(environ)))
        if missing:
            return Finding(what, "error", f"{missing} of {expected} entries are not trusted, and Codex skips them in silence", remedy)
        return Finding(what, "ok", "each entry was trusted once; codex is not on PATH to say more")
    try:
        trusted = sum(hook.trusted for hook in await listed(program, environ) if hook.own)
    except CodexFailed as failed:
        return Finding(what, "warning", f"it cannot be told whether Codex asks our entries: {failed}", "look in codex with /hooks")
    if trusted < expected:
        return Finding(
            what, "error", f"{expected - trusted} of {expected} entries are not trusted, and Codex skips them in silence", remedy
        )
    return Finding(what, "ok", f"{expected} entries are trusted")


async def _probed(agent: str, probe: Probe, environ: Mapping[str, str]) -> Finding:
    what = f"{agent} probe"
    probed = await fire(probe, environ)
    if not probed.fault:
        return Finding(what, "ok", f"{probe.way}: answered in {probed.ms:.0f} ms")
    remedy = "start the daemon: treblehook serve" if probe.url and "no answer" in probed.fault else _remedy(agent)
    return Finding(what, "error", f"{probe.way}: {probed.fault}", remedy)


def _remedy(agent: str) -> str:
    return f"treblehook install {agent}"
