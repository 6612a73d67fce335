"""What a command writes, taken up as it arrives and kept within bounds."""

import codecs
from collections import deque
from collections.abc import Callable

from treblehook.runtimes.process import Stream

HEAD = TAIL = 500_000
"""Characters that are kept of both streams together, from the beginning and from the end."""

STREAM_BYTES = 16_384
"""Bytes that are kept of each stream alone (murmur.md 3.5)."""


class Capture:
    """Takes the chunks of both streams, in the order of their arrival. `progress` is called with the text of each.

    Bytes that are no UTF-8 become U+FFFD; a character that two chunks share stays whole.
    """

    def __init__(self, progress: Callable[[str], None]) -> None:
        self._progress = progress
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {"stdout": decoder("replace"), "stderr": decoder("replace")}
        self._starts = {"stdout": bytearray(), "stderr": bytearray()}
        self._head: list[str] = []
        self._head_room = HEAD
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._dropped = 0

    def take(self, stream: Stream, chunk: bytes) -> None:
        """The next chunk of a stream."""
        start = self._starts[stream]
        # Four bytes more, so that a character at the border is known whole.
        start += chunk[: max(0, STREAM_BYTES + 4 - len(start))]
        text = self._decoders[stream].decode(chunk)
        if text:
            self._keep(text)
            self._progress(text)

    def text(self) -> str:
        """Both streams as one text, with a line in the place of what was left out of the middle. Call it once, at the end."""
        for decoder in self._decoders.values():
            self._keep(decoder.decode(b"", final=True))
        tail = "".join(self._tail)
        dropped = self._dropped + max(0, len(tail) - TAIL)
        if not dropped:
            return "".join(self._head) + tail
        return f"{''.join(self._head)}\n[{dropped} characters of output were left out here]\n{tail[-TAIL:]}"

    def start(self, stream: Stream) -> str:
        """The first 16 KiB of one stream, as text that is no longer than that in UTF-8."""
        whole = self._starts[stream].decode("utf-8", "replace")
        return whole.encode()[:STREAM_BYTES].decode("utf-8", "ignore")

    def _keep(self, text: str) -> None:
        first, rest = text[: self._head_room], text[self._head_room :]
        if first:
            self._head.append(first)
            self._head_room -= len(first)
        if rest:
            self._tail.append(rest)
            self._tail_length += len(rest)
        while self._tail and self._tail_length - len(self._tail[0]) >= TAIL:
            gone = len(self._tail.popleft())
            self._tail_length -= gone
            self._dropped += gone
