"""A chat by hand: keys become lines, lines become messages and commands, Esc and Ctrl-C stop the turn."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from treblehook.cli.chatting.editor import Editor
from treblehook.cli.chatting.keyboard import Keyboard
from treblehook.cli.chatting.keys import Pressed, Typed
from treblehook.cli.chatting.talk import Talk
from treblehook.cli.foreground import Foreground
from treblehook.cli.output.terminal import Terminal


class ByHand:
    """The user at a terminal, from `chatting` on."""

    def __init__(self, output: Terminal) -> None:
        self._output = output
        self._keyboard = Keyboard(sys.stdin.fileno(), self._key, self._leave)
        self._editor = Editor(output.typing, self._line)
        self._talk: Talk | None = None

    @contextmanager
    def chatting(self, talk: Talk, foreground: Foreground) -> Iterator[None]:
        """Take keys for `talk`."""

        def stop(number: signal.Signals) -> None:
            if number != signal.SIGINT:
                foreground.stop(number)
            elif not self.interrupt():
                self._editor.clear()
                foreground.rearm()

        self._talk = talk
        foreground.on_stop = stop
        foreground.restore = self._keyboard.restore
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCONT, self._continued)
        self._output.problem("Enter sends, Esc stops a turn, Ctrl-D leaves; /compact, /context, /usage, /hooks, /quit")
        try:
            self._open()
            yield
        finally:
            self._talk = None
            foreground.on_stop = foreground.stop
            loop.remove_signal_handler(signal.SIGCONT)
            self._close()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave keyboard and screen to somebody else."""
        self._close()
        try:
            with self._output.paused():
                yield
        finally:
            # The chat may be over meanwhile, and the terminal given back.
            if self._talk is not None:
                self._open()

    def interrupt(self) -> bool:
        """Stop the running turn; false where there is none."""
        return self._talk is not None and self._talk.interrupt()

    def _open(self) -> None:
        self._keyboard.open()
        self._editor.show()

    def _close(self) -> None:
        self._keyboard.close()
        self._output.screen.input(None)

    def _continued(self) -> None:
        """The process had been stopped, and the shell has used the terminal meanwhile."""
        self._keyboard.apply()
        self._editor.show()

    def _key(self, key: Typed | Pressed) -> None:
        if key == Pressed("escape"):
            self.interrupt()
        elif key == Pressed("end of input") and not self._editor.text:
            self._leave()
        else:
            self._editor.take(key)

    def _line(self, line: str) -> None:
        assert self._talk is not None, "keys come while there is a talk"
        self._output.typed(line)
        if line.startswith("/"):
            self._talk.command(line)
        else:
            self._talk.say(line, "now")

    def _leave(self) -> None:
        assert self._talk is not None, "keys come while there is a talk"
        self._talk.leave()
