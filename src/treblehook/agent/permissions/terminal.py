"""Asks the user at the terminal, one key an answer."""

import asyncio
import json
import os
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from treblehook.agent.permissions.session import main_argument
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall

ESCAPE = "\x1b"
_CHOICES = "  [y] once   [a] always this session   [n] no: "
_ANSWERS = {"y": "yes", "a": "always", "n": "no", ESCAPE: "interrupted", "": "no"}
_OPENED = os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC


def open_terminal() -> int | None:
    """A new descriptor of the terminal that this process is in the foreground of, non-blocking; None where there is none.

    It is the terminal of standard input, output or error, and of the process where all of these were redirected.
    """
    for path in _terminal_paths():
        try:
            terminal = os.open(path, _OPENED)
        except OSError:
            # Not a terminal of ours any more; another name may still lead there.
            continue
        if _in_foreground(terminal):
            return terminal
        os.close(terminal)
    return None


def plain_question(call: ToolCall, spec: ToolSpec) -> str:
    """The call in plain text, whole; characters that a terminal would obey are spelled out."""
    text = _subject(call, spec)
    return printable(f"{call.name}: {text}" if text else call.name)


def printable(text: str) -> str:
    """The text with all characters spelled out that a terminal would obey, but line ends."""
    return "".join(character if character.isprintable() or character == "\n" else repr(character)[1:-1] for character in text)


def _subject(call: ToolCall, spec: ToolSpec) -> str:
    """What is asked about: the main argument, or where there is none all of the input, as JSON."""
    text = main_argument(call, spec)
    if text is not None or not call.input:
        return text or ""
    return json.dumps(call.input, ensure_ascii=False, sort_keys=True)


class TerminalApprover:
    """Asks with `y` (once), `a` (this session: the same tool with the same main argument, or the same input) and `n`; Esc is `n`, and calls
    `interrupt`. Ctrl-C stays the signal that it always is; cancelling `approve` gives the terminal back as it was.

    Without a terminal the answer is no. Prompts of calls that run side by side come one after the other. `question` gives
    the text of a prompt, with everything in it that a terminal would obey already removed.
    """

    def __init__(
        self,
        question: Callable[[ToolCall, ToolSpec], str] = plain_question,
        interrupt: Callable[[], None] = lambda: None,
        terminal: Callable[[], int | None] = open_terminal,
    ) -> None:
        self._question = question
        self._interrupt = interrupt
        self._terminal = terminal
        self._always: set[tuple[str, str]] = set()
        self._turn = asyncio.Lock()

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        """Ask, unless the user said "always" before."""
        remembered = (call.name, _subject(call, spec))
        async with self._turn:
            if remembered in self._always:
                return True
            question = self._question(call, spec)
            answer = await self._ask(f"{question}\n{printable(reason)}" if reason else question)
        if answer == "always":
            self._always.add(remembered)
        if answer == "interrupted":
            self._interrupt()
        return answer in ("yes", "always")

    async def _ask(self, question: str) -> str:
        terminal = self._terminal()
        if terminal is None:
            return "no"
        try:
            with _single_keys(terminal):
                # Further lines are marked, so that no call can draw a prompt of its own below the real one.
                await _write(terminal, question.replace("\n", "\n  | ") + f"\n{_CHOICES}")
                answer = await _answer(terminal)
                await _write(terminal, f"{answer}\n")
                return answer
        except (OSError, termios.error):
            # The terminal is gone, so nobody has said yes.
            return "no"
        finally:
            os.close(terminal)


async def _answer(terminal: int) -> str:
    while True:
        key = await _read(terminal)
        # A longer run of bytes is an arrow key or something pasted, and no answer.
        answer = _ANSWERS.get(key.decode(errors="replace").lower())
        if answer is not None:
            return answer


async def _read(terminal: int) -> bytes:
    """What was typed; b"" once the terminal has hung up."""
    while True:
        await _ready(terminal, asyncio.get_running_loop().add_reader, asyncio.get_running_loop().remove_reader)
        try:
            return os.read(terminal, 1024)
        except BlockingIOError:
            # Somebody else took what was there.
            continue


async def _write(terminal: int, text: str) -> None:
    """Write all of it, however slowly the terminal takes it."""
    data = text.encode(errors="replace")
    while data:
        await _ready(terminal, asyncio.get_running_loop().add_writer, asyncio.get_running_loop().remove_writer)
        try:
            data = data[os.write(terminal, data) :]
        except BlockingIOError:
            # The terminal was stopped in between (Ctrl-S).
            continue


async def _ready(terminal: int, add: Callable[..., object], remove: Callable[[int], object]) -> None:
    event = asyncio.Event()
    add(terminal, event.set)
    try:
        await event.wait()
    finally:
        remove(terminal)


@contextmanager
def _single_keys(terminal: int) -> Iterator[None]:
    """No line editing and no echo, and nothing that was typed before counts. It never waits for the terminal."""
    before = termios.tcgetattr(terminal)
    changed = termios.tcgetattr(terminal)
    changed[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal, termios.TCSANOW, changed)
    termios.tcflush(terminal, termios.TCIFLUSH)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def _terminal_paths() -> Iterator[str]:
    for descriptor in (0, 2, 1):
        try:
            yield os.ttyname(descriptor)
        except OSError:
            # Redirected.
            continue
    yield "/dev/tty"


def _in_foreground(terminal: int) -> bool:
    """Whether reading would not stop this process, as it would a job in the background."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        # A terminal, but not the one that controls this process: no job control, nobody to be stopped by.
        return os.isatty(terminal)
