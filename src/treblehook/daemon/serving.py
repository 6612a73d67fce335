"""The daemon of one home, from its first request to its end."""

import asyncio
import time
from collections.abc import Callable
from importlib.metadata import version
from socket import socket
from typing import Final

from msgspec import Struct

from treblehook.agent.permissions import Approver
from treblehook.agent.transcript import TranscriptFailed
from treblehook.daemon.health import Fact, health_operation
from treblehook.daemon.hooks.endpoint import PATH as HOOKS
from treblehook.daemon.hooks.endpoint import HookEndpoint, hook_operation
from treblehook.daemon.http.application import application
from treblehook.daemon.http.body import Bodies
from treblehook.daemon.http.callers import Hosts
from treblehook.daemon.http.edge import Edge
from treblehook.daemon.http.front import Front
from treblehook.daemon.http.operation import Operation
from treblehook.daemon.http.server import Server
from treblehook.daemon.metrics import Family, Labels, Metrics, metrics_operation
from treblehook.daemon.plugins import plugin_operation
from treblehook.daemon.sessions.live import LiveSessions
from treblehook.daemon.sessions.routes import SessionRoutes
from treblehook.daemon.webhooks.deliveries import Deliveries
from treblehook.daemon.webhooks.endpoint import PATH as WEBHOOKS
from treblehook.daemon.webhooks.endpoint import WebhookEndpoint
from treblehook.daemon.webhooks.queue import DeliveryQueue
from treblehook.daemon.webhooks.replays import Replays
from treblehook.daemon.webhooks.routes import webhook_operation
from treblehook.daemon.webhooks.secrets import load_secrets
from treblehook.gateway.service import Gateway
from treblehook.home.home import Home
from treblehook.home.residents import Residents
from treblehook.host.problems import ConfigInvalid, Problem

PARK_SECONDS: Final = 1800.0
"""A session that nobody has used for so long is closed until its next prompt."""

_TICK_SECONDS: Final = 1.0
_REQUESTS_SECONDS: Final = 5.0
"""How long a stopping daemon waits for the answers that are under way."""

_BUS_SECONDS: Final = 10.0
"""And for the handlers of what has arrived; deliveries that are left come again at the next start."""


class Access(Struct, frozen=True):
    """Who may call: the host names beside the loopback ones, and the key, "" for none."""

    hosts: tuple[str, ...]
    key: str


class Daemon:
    """Serves `home` until `stop` is called. `approver` answers the permission prompts of
    all sessions, `problem` is told what an operator should know, `clock` gives seconds since 1970. Making one opens the queue of webhooks.

    Raises `ConfigInvalid` where that cannot be opened.
    """

    def __init__(
        self,
        home: Home,
        *,
        access: Access,
        approver: Approver,
        problem: Callable[[str], None],
        park_seconds: float = PARK_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._home = home
        self._bus = home.bus
        self._metrics = metrics = Metrics()
        home.events.watchers.append(metrics)
        self._problem = problem
        self._park_seconds = park_seconds
        self._began = time.monotonic()
        self._told = 0
        self._fault = ""
        self._stopping = asyncio.Event()
        self._residents = Residents(home)
        self._live = LiveSessions(home, self._residents, approver, metrics.finished)
        self._deliveries = Deliveries(home.bus, problem)
        self._queue = DeliveryQueue(home.path, self._deliveries.stored)
        secrets, problems = load_secrets(home.path)
        home.problems.extend(problems)
        replays = Replays(self._queue.seen(clock()))
        webhooks = WebhookEndpoint(secrets, self._queue, replays, metrics.delivery, clock)
        self._gateway = Gateway(home, problem)
        hooks = HookEndpoint(self._gateway)
        operations: list[Operation] = [
            *SessionRoutes(self._live, home.settings.kilns).operations(),
            plugin_operation(home),
            webhook_operation(webhooks),
            hook_operation(hooks),
            health_operation(self._facts, version("treblehook"), self._age),
            metrics_operation(self._families),
        ]
        hosts, bodies = Hosts(access.hosts), Bodies()
        front = Front({WEBHOOKS: webhooks, HOOKS: hooks}, application(operations, problem))
        self.app = Edge(front, hosts, access.key, bodies, metrics.refused)
        """the whole of it, as an ASGI app"""
        health = application([health_operation(self._facts, version("treblehook"), self._age)], problem)
        self.hooks_app = Edge(Front({HOOKS: hooks}, health), hosts, "", bodies, metrics.refused)
        """hook calls and the health, for callers who need no key"""

    async def serve(self, bound: socket | None, own: socket, on_started: Callable[[], None]) -> None:
        """Serve on a bound socket, and hook calls on one that only this user can reach, `own`; without the first hook calls are all.
        `on_started` is called once requests are taken. Returns when everything has ended.

        Raises `ConfigInvalid` where the home's plugins cannot be run at all.
        """
        self._home.lua.start()
        for_hooks = Server(self.hooks_app, on_started if bound is None else lambda: None, _REQUESTS_SECONDS)
        servers = {for_hooks: own}
        if bound is not None:
            servers[Server(self.app, on_started, _REQUESTS_SECONDS)] = bound
        looking = asyncio.ensure_future(self._look_after_notes())
        self._deliveries.start(self._queue)
        serving = [asyncio.ensure_future(server.serve(sockets=[listens])) for server, listens in servers.items()]
        ticking = asyncio.ensure_future(self._tick())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({*serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            self._live.stop()
            for server in servers:
                server.stop()
            await asyncio.gather(*serving)
        finally:
            for task in (ticking, stopping, looking):
                task.cancel()
            await self._end()

    def _age(self) -> float:
        return time.monotonic() - self._began

    def stop(self) -> None:
        """Take no more requests, end what runs, and let `serve` return."""
        self._stopping.set()

    def tell_problems(self) -> None:
        """Say what has become known about the home since the last time."""
        for found in self._home.problems[self._told :]:
            self._problem(f"{found.level}: {found}")
        self._told = len(self._home.problems)

    async def _end(self) -> None:
        await self._gateway.close()
        await self._residents.shutdown()
        left = await self._bus.drain(_BUS_SECONDS)
        if left:
            self._problem(f"warning: {left} events were not handled; webhooks among them come again at the next start")
        await self._queue.close()
        self.tell_problems()

    async def _look_after_notes(self) -> None:
        """Index the notes and watch them, whether a session is open or not."""
        try:
            await self._home.notes()
        except ConfigInvalid as invalid:
            self._home.problems.extend(invalid.problems)

    async def _tick(self) -> None:
        """What has to be looked at from time to time."""
        while True:
            self.tell_problems()
            self._tell_fault()
            try:
                self._gateway.sessions.park(self._park_seconds)
                await self._live.park(self._park_seconds)
            except TranscriptFailed as failed:
                self._home.problems.append(Problem(str(failed.path), "", f"a session was not closed well: {failed.reason}"))
            await asyncio.sleep(_TICK_SECONDS)

    def _tell_fault(self) -> None:
        """Say once that deliveries are turned away, and why."""
        fault = self._queue.fault
        if fault and not self._fault:
            self._problem(f"error: deliveries cannot be stored, so their senders get a 502: {fault}")
        self._fault = fault

    def _facts(self) -> list[Fact]:
        errors = sum(problem.level == "error" for problem in self._home.problems)
        fault = "deliveries cannot be stored" if self._queue.fault else ""
        return [
            Fact("sessions", len(self._residents.sessions)),
            Fact("outside_sessions", self._gateway.sessions.count),
            Fact("events", self._bus.depth),
            Fact("webhooks", self._deliveries.waiting, fault),
            *self._plugins(),
            Fact("problems", errors, "see the error output of the daemon" if errors else ""),
        ]

    def _plugins(self) -> list[Fact]:
        if self._home.lua.plugins is None:
            return []
        states = self._home.lua.plugins.plugins.states()
        broken = ", ".join(state.name for state in states if state.state == "error")
        return [Fact("plugins", len(states), f"not loaded: {broken}" if broken else "")]

    def _families(self) -> list[Family]:
        fired: dict[Labels, float] = {(("event", event),): float(times) for event, times in self._bus.fired.items()}
        return [
            Family("treblehook_sessions_open", "gauge", "Open sessions.", {(): len(self._residents.sessions)}),
            Family("treblehook_events_fired_total", "counter", "Events of the daemon whose handlers have run.", fired),
            Family("treblehook_events_waiting", "gauge", "Events of the daemon that wait for their handlers.", {(): self._bus.depth}),
            Family("treblehook_webhooks_waiting", "gauge", "Deliveries whose handlers have not run.", {(): self._deliveries.waiting}),
            *self._metrics.families(),
        ]
