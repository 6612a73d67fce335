"""Ends what runs too long: one thread, which sleeps until the first deadline and only then drives the engine's epoch."""

import threading
import time
from collections.abc import Callable
from typing import Final

from treblehook.runtimes.wasm.errors import CallEnded, DeadlineExceeded

_AGAIN: Final = 0.01
"""Seconds between two interruptions of a guest that has not noticed; it may just have asked the clock as the epoch moved on."""
_GRACE: Final = 0.25
"""Seconds from the deadline of a guest to giving it up, because it hangs outside of its own code."""


class Running:
    """One stay in a guest. `due` is when it must be over, on the watch's clock; None while the guest's clock stands still."""

    __slots__ = ("callers", "due", "give_up", "left", "seconds", "why")

    def __init__(self, seconds: float, give_up: Callable[["Running", CallEnded], None], callers: tuple[object, ...] = ()) -> None:
        self.seconds = seconds
        self.callers = callers
        """Which guests wait for this one to be left."""
        self.give_up = give_up
        """Called once on the watch's thread, when waiting for the guest makes no sense any more."""
        self.due: float | None = None
        self.left = seconds
        self.why: CallEnded | None = None
        """Why it is being ended; once set it stays."""


class Deadlines:
    """`interrupt` makes every guest that runs ask `expired`. Thread-safe."""

    def __init__(self, interrupt: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._interrupt = interrupt
        self._clock = clock
        self._changed = threading.Condition()
        self._running: set[Running] = set()
        self._wake = float("inf")
        self._thread: threading.Thread | None = None
        self._closed = False

    def start(self, running: Running) -> CallEnded | None:
        """The guest is entered: its clock begins. Answers why it must not be, if it has been stopped already."""
        with self._changed:
            if running.why is None:
                self._running.add(running)
                self._set(running, self._clock() + running.seconds)
            return running.why

    def end(self, running: Running) -> None:
        """The guest was left."""
        with self._changed:
            self._running.discard(running)

    def pause(self, running: Running) -> None:
        """The guest waits for us."""
        with self._changed:
            if running.due is not None and running.why is None:
                running.left = running.due - self._clock()
                running.due = None

    def resume(self, running: Running) -> None:
        """The guest goes on, with the time that it had left."""
        with self._changed:
            if running.due is None:
                self._set(running, self._clock() + running.left)

    def stop(self, running: Running, why: CallEnded) -> None:
        """End it now; what has not started will not start."""
        with self._changed:
            running.why = running.why or why
            self._set(running, self._clock())

    def expired(self, running: Running) -> CallEnded | None:
        """Why the guest must stop; None while it may go on."""
        due = running.due
        if due is None or self._clock() < due:
            return None
        running.why = running.why or DeadlineExceeded(running.seconds)
        return running.why

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _set(self, running: Running, due: float) -> None:
        running.due = due
        if running in self._running and due < self._wake and not self._closed:
            self._wake = due
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="treblehook-wasm-deadlines", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                now = self._clock()
                pause = self._look(now)
                self._wake = now + pause
                self._changed.wait(None if pause == float("inf") else min(pause, threading.TIMEOUT_MAX))

    def _look(self, now: float) -> float:
        """Interrupt who is late, give up who is much too late; answers the seconds until it must be done again."""
        dues = [(running.due, running) for running in self._running if running.due is not None]
        late = [(due, running) for due, running in dues if due <= now]
        for due, running in late:
            if now - due > _GRACE:
                # By now its epoch is over too, so that it will stop as soon as it is back in its own code.
                self._running.discard(running)
                running.why = running.why or DeadlineExceeded(running.seconds, stuck=True)
                running.give_up(running, running.why)
        if late:
            self._interrupt()
            return _AGAIN
        return min((due - now for due, _ in dues), default=float("inf"))
