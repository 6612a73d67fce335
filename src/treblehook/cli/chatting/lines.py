"""Lines of input that do not come from a keyboard: text, or JSON that drives the chat by program (design, section 6)."""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from treblehook.agent.inbox import When
from treblehook.cli.chatting.talk import Talk


class LineInvalid(Exception):
    """A JSON line that says nothing a chat can do; the message says what is allowed."""


class _Line(Struct, forbid_unknown_fields=True):
    prompt: str | UnsetType = UNSET
    when: When | UnsetType = UNSET
    command: str | UnsetType = UNSET
    interrupt: bool | UnsetType = UNSET


_ALLOWED = 'allowed: {"prompt": "…", "when": "idle"|"now"}, {"command": "/compact"}, {"interrupt": true}'


def take_json(line: bytes, talk: Talk) -> None:
    """Do what a JSON line says; a prompt without `when` waits until the chat is idle. Raises `LineInvalid`."""
    try:
        said = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LineInvalid(f"{error}; {_ALLOWED}") from error
    wants = [said.prompt is not UNSET, said.command is not UNSET, said.interrupt is True]
    if sum(wants) != 1 or said.interrupt is False or (said.when is not UNSET and said.prompt is UNSET):
        raise LineInvalid(f"found {line.decode(errors='replace')!r}; {_ALLOWED}")
    if said.prompt is not UNSET:
        if not said.prompt.strip():
            raise LineInvalid("prompt: found a blank text")
        talk.say(said.prompt, "idle" if said.when is UNSET else said.when)
    elif said.command is not UNSET:
        talk.command(said.command)
    else:
        talk.interrupt()


def take_text(line: bytes, talk: Talk) -> None:
    """A line is a message, or a command where it begins with a slash, each in its turn; a blank one is nothing."""
    text = line.decode(errors="replace").strip()
    if text.startswith("/"):
        talk.command(text, "idle")
    elif text:
        talk.say(text, "idle")


def read_lines(descriptor: int, on_line: Callable[[bytes], Any], on_end: Callable[[], Any]) -> None:
    """Hand over the lines of a file, pipe or terminal on the running loop as they come, then say that they are over.

    A thread reads, since a regular file cannot be watched; it ends with the process.
    """
    loop = asyncio.get_running_loop()

    def read() -> None:
        rest = b""
        try:
            while chunk := _read(descriptor):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    loop.call_soon_threadsafe(on_line, line)
            if rest:
                loop.call_soon_threadsafe(on_line, rest)
            loop.call_soon_threadsafe(on_end)
        except RuntimeError:
            # The loop has ended, and nobody listens any more.
            return

    threading.Thread(target=read, name="treblehook-input", daemon=True).start()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # A terminal that has hung up.
        return b""
