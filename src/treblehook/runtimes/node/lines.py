"""The lines between us and a worker, and between us and the process's main thread."""

import re

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from treblehook.runtimes.node.errors import NodeError


class BadLine(NodeError):
    """A line is none that a worker or the main thread sends."""


class FromWorker(Struct):
    """One line of a worker: the `answer` to a call of ours with `value` or `error`, a `call` of its own, the `drop` of one, or a
    `ping` given back."""

    answer: int | UnsetType = UNSET
    value: Raw = Raw(b"null")
    error: str | UnsetType = UNSET
    call: int | UnsetType = UNSET
    name: str = ""
    argument: Raw = Raw(b"null")
    drop: int | UnsetType = UNSET
    ping: int | UnsetType = UNSET


class FromProcess(Struct):
    """One line of the main thread: its version, or that worker number `ended` is gone and `why`."""

    hello: str = ""
    ended: int | UnsetType = UNSET
    why: str = ""


_ANSWER = re.compile(rb'\{"answer":(\d{1,15}),"value":')
_FROM_WORKER = msgspec.json.Decoder(FromWorker)
_FROM_PROCESS = msgspec.json.Decoder(FromProcess)


def from_worker(line: bytes) -> FromWorker:
    """Read a worker's line. Raises `BadLine`.

    The value of an answer is taken as it stands, unread: whoever asked has to read it anyway, and knows what JavaScript's JSON
    may hold that others refuse (half a surrogate pair).
    """
    if (found := _ANSWER.match(line)) is not None and line.endswith(b"}"):
        return FromWorker(answer=int(found[1]), value=Raw(line[found.end() : -1]))
    try:
        return _FROM_WORKER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadLine(f"it wrote to its pipe what is no message ({error})") from error


def from_process(line: bytes) -> FromProcess:
    """Read the main thread's line. Raises `BadLine`."""
    try:
        return _FROM_PROCESS.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadLine(f"its main thread wrote what is no message ({error})") from error


def call_line(number: int, name: str, argument: bytes) -> bytes:
    """Call the function `name` with `argument`, which is JSON without a line end."""
    return b'{"call":%d,"name":"%b","argument":%b}\n' % (number, name.encode(), argument)


def value_line(number: int, value: bytes) -> bytes:
    """The JSON `value` that request `number` of a worker came to."""
    return b'{"answer":%d,"value":%b}\n' % (number, value)


def error_line(number: int, message: str) -> bytes:
    """Why request `number` of a worker failed."""
    return b'{"answer":%d,"error":%b}\n' % (number, msgspec.json.encode(message.encode("utf-8", "replace").decode()))


def ping_line(number: int) -> bytes:
    """Asks a worker's event loop for a sign of life."""
    return b'{"ping":%d}\n' % number
