"""Where a session's records go: to the session file first, then to whoever listens."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from treblehook.agent.listener import Listener
from treblehook.agent.models.model import Usage
from treblehook.agent.records import Moment, Record, call_keys, hook_keys, kept, message_keys, result_keys, shown, usage_keys
from treblehook.agent.transcript import Transcript, TranscriptFailed
from treblehook.engine import Call
from treblehook.engine.journal import Watcher
from treblehook.host.calls import CallOutcome
from treblehook.lifecycle import Display, Message, ToolCall


class _Subscriber(Struct, eq=False):
    told: Callable[[Record], None]


class Recorder(Watcher):
    """Writes the records of one session. Raises `TranscriptFailed` where the session file cannot be written.

    A record is on disk before anybody is shown it. Where the record of a hook cannot be written, the next `write` fails instead: a
    hook that nobody waits for has nobody to tell. After `close` nothing is written any more; late calls of hooks are dropped.
    """

    def __init__(self, session: str, transcript: Transcript, listener: Listener, clock: Callable[[], float] = time.time) -> None:
        self.session = session
        self.listener = listener
        self._transcript = transcript
        self._moment = Moment(clock)
        self._closed = False
        self._failure: TranscriptFailed | None = None
        self._subscribers: list[_Subscriber] = []

    def write(self, kind: str, **keys: Any) -> None:
        """Write one record of type `kind`."""
        self._put(kind, keys)

    def _put(self, kind: str, keys: Record) -> None:
        """Every hook call and every tool call comes through here, so it spares what it can."""
        if self._closed:
            return
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        record = {"type": kind, "at": self._moment.now(), "session": self.session, **keys}
        if (line := kept(record)) is not None:
            self._transcript.append(line)
        if (public := shown(record)) is not None:
            self.listener.record(public)
            for subscriber in self._subscribers:
                asyncio.get_running_loop().call_soon(self._tell, subscriber, public)

    def subscribe(self, told: Callable[[Record], None]) -> Callable[[], None]:
        """Have `told` called with each record that is shown from now on, soon after the listener; what is returned ends that.

        What `told` raises is the running loop's problem, not the session's.
        """
        subscriber = _Subscriber(told)
        self._subscribers.append(subscriber)
        return lambda: self._unsubscribe(subscriber)

    def _unsubscribe(self, subscriber: "_Subscriber") -> None:
        if subscriber in self._subscribers:
            self._subscribers.remove(subscriber)

    def _tell(self, subscriber: "_Subscriber", record: Record) -> None:
        if subscriber in self._subscribers:
            subscriber.told(record)

    def message(self, message: Message, *, before: str = "") -> None:
        """A message that joined the conversation; `before` names the one it stands in front of, "" the end."""
        self.write("message", **message_keys(message), **({"before": before} if before else {}))

    def restarted(self, messages: Sequence[Message]) -> None:
        """The conversation goes on from `messages`."""
        self.write("restarted", messages=msgspec.to_builtins(messages))

    def raw(self, message: Message) -> None:
        """What the provider wants back with `message`, now that no hook can change it any more."""
        if message.raw:
            self.write("raw", id=message.id, raw=message.raw)

    def usage(self, use: str, model: str, usage: Usage) -> None:
        """What one request cost, and what it was for."""
        self.write("usage", **usage_keys(use, model, usage))

    def close(self) -> None:
        """Write nothing more."""
        self._closed = True
        self._transcript.close()

    def planned(self, call: Call) -> None:
        """A hook is about to be asked."""
        self.listener.asking(self.session, call)

    def finished(self, calls: Sequence[Call]) -> None:
        """Hooks have been asked; one record each."""
        for call in calls:
            self.listener.answered(self.session, call)
            try:
                self._put("hook", hook_keys(call))
            except TranscriptFailed as failure:
                self._failure = failure

    def started(self, call: ToolCall, asked: dict[str, Any], display: Display | None, *, for_hook: bool = False) -> None:
        """A tool call, as it would run."""
        self._put("tool_call", call_keys(call, asked, for_hook=for_hook))
        self.listener.tool_started(self.session, call, display)

    def progress(self, call: ToolCall, text: str) -> None:
        """The running tool has said something."""
        self.listener.tool_said(self.session, call, text)

    def ended(self, outcome: CallOutcome, display: Display | None) -> None:
        """What the model gets for a call."""
        self._put("tool_result", result_keys(outcome))
        self.listener.tool_finished(self.session, outcome, display)
