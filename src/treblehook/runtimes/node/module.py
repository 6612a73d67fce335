"""One module: its functions are called, and its own requests are passed on, by whatever worker runs it at the moment."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

from msgspec import UNSET, Struct

from treblehook.runtimes.modules import CallFailed, ModuleEnded, NotRunning, RequestFailed
from treblehook.runtimes.node.channel import Channel
from treblehook.runtimes.node.lines import BadLine, FromWorker, call_line, error_line, from_worker, ping_line, value_line
from treblehook.runtimes.node.values import REQUESTS, Patience


class ModuleSpec(Struct, frozen=True):
    """What is loaded: `name` is for people, `file` an absolute path whose default export makes the functions. `log` is the file
    that console output is added to; None drops it."""

    name: str
    file: str
    log: str | None = None


OnRequest = Callable[["Module", str, bytes], Awaitable[bytes]]
OnBroken = Callable[["Module", str], None]


class Module:
    """A loaded module. `ended` says why its worker is gone for good, None while it is not.

    `on_request` answers a request of the module, raising `RequestFailed`; `on_broken` is told that the worker has to be ended.
    """

    def __init__(self, spec: ModuleSpec, number: int, patience: Patience, on_request: OnRequest, on_broken: OnBroken) -> None:
        self.spec = spec
        self.number = number
        self.ended: str | None = None
        self._patience = patience
        self._on_request = on_request
        self._on_broken = on_broken
        self._channel: Channel | None = None
        self._calls: dict[int, asyncio.Future[bytes]] = {}
        self._late: set[int] = set()
        """calls that nobody waits for any more"""
        self._requests: dict[int, asyncio.Task[None]] = {}
        self._count = 0
        self._doubt: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether a function is running."""
        return bool(self._calls)

    async def call(self, name: str, argument: bytes) -> bytes:
        """Call the function `name` with `argument`, JSON without a line end; answers the JSON of its value.

        Raises `NotRunning`, `CallFailed` and `ModuleEnded`. Where the caller is cancelled the function goes on and its value
        is dropped; a worker whose event loop then stands still is ended.
        """
        if self._channel is None:
            raise NotRunning(self.ended or "the Node process is not running")
        self._count += 1
        number = self._count
        if not self._channel.send(call_line(number, name, argument)):
            raise NotRunning("it does not read what it is sent")
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        try:
            return await answer
        except asyncio.CancelledError:
            if self._channel is not None:
                self._late.add(number)
                self._ask_for_life()
            raise
        finally:
            self._calls.pop(number, None)

    def attach(self, end: socket.socket) -> None:
        """A worker runs the module from now on, and is spoken to over `end`."""
        self._channel = Channel(end, self._take, self._closed)

    def detach(self, why: str) -> None:
        """The worker is gone: what is running has failed."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self._trust()
        self._late.clear()
        for task in tuple(self._requests.values()):
            task.cancel()
        for answer in tuple(self._calls.values()):
            if not answer.done():
                answer.set_exception(ModuleEnded(why))

    def _take(self, line: bytes) -> None:
        try:
            message = from_worker(line)
        except BadLine as bad:
            self._on_broken(self, bad.why)
            return
        if message.answer is not UNSET:
            self._answered(message.answer, message)
        elif message.call is not UNSET:
            self._requested(message.call, message)
        elif message.drop is not UNSET:
            if (task := self._requests.get(message.drop)) is not None:
                task.cancel()
        elif message.ping is not UNSET and self._doubt is not None:
            self._trust()
        else:
            self._on_broken(self, "it wrote to its pipe what nobody had asked for")

    def _answered(self, number: int, message: FromWorker) -> None:
        answer = self._calls.get(number)
        if number in self._late:
            self._late.discard(number)
            return
        if answer is None or answer.done():
            self._on_broken(self, "it wrote to its pipe an answer that nobody had asked for")
            return
        if message.error is UNSET:
            answer.set_result(bytes(message.value))
        else:
            answer.set_exception(CallFailed(message.error))

    def _requested(self, number: int, message: FromWorker) -> None:
        if len(self._requests) >= REQUESTS or number in self._requests:
            self._on_broken(self, f"it has more than {REQUESTS} requests under way")
            return
        task = asyncio.ensure_future(self._request(number, message.name, bytes(message.argument)))
        self._requests[number] = task
        task.add_done_callback(lambda _: self._requests.pop(number, None))

    async def _request(self, number: int, name: str, argument: bytes) -> None:
        try:
            line = value_line(number, await self._on_request(self, name, argument))
        except RequestFailed as failed:
            line = error_line(number, str(failed))
        if self._channel is not None and not self._channel.send(line):
            self._on_broken(self, "it does not read what it is sent")

    def _closed(self, why: str | None) -> None:
        if why is not None:
            self._on_broken(self, why)
        elif self._doubt is None:
            # Mostly the worker has ended, and the main thread is about to say why.
            self._doubt = asyncio.get_running_loop().call_later(self._patience.close, self._on_broken, self, "it closed its pipe")

    def _ask_for_life(self) -> None:
        """Nobody waits for an answer any more: is the event loop standing still, or only that function?"""
        if self._channel is None or self._doubt is not None:
            return
        self._doubt = asyncio.get_running_loop().call_later(self._patience.blocked, self._blocked)
        self._channel.send(ping_line(self._count))

    def _trust(self) -> None:
        if self._doubt is not None:
            self._doubt.cancel()
            self._doubt = None

    def _blocked(self) -> None:
        self._doubt = None
        self._on_broken(self, f"it blocked its event loop for {self._patience.blocked:g} s")
