"""Which conversations hold a prompt that hooks have blocked: an SDK or a program may keep such a prompt and send it along with the next."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

KEPT: Final = 4096


class BlockedPrompts:
    """Remembers blocked prompts by digests of all that the user has said until then. The oldest are forgotten first."""

    def __init__(self) -> None:
        self._digests: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, prompts: Sequence[str], count: int = 1) -> None:
        """The last one of a conversation's `prompts` has been blocked, or the last `count` as one."""
        *_, last = _digests(prompts)
        with self._lock:
            self._digests[last] = count
            if len(self._digests) > KEPT:
                self._digests.popitem(last=False)

    def passed(self, prompts: Sequence[str]) -> None:
        """The last one has not: another conversation that began alike, or a second try."""
        *_, last = _digests(prompts)
        with self._lock:
            self._digests.pop(last, None)

    def among(self, prompts: Sequence[str]) -> bool:
        """Whether a conversation that began with `prompts` holds a blocked one."""
        with self._lock:
            return any(digest in self._digests for digest in _digests(prompts))

    def places(self, prompts: Sequence[str]) -> list[int]:
        """Where in a conversation that began with `prompts` blocked ones stand."""
        with self._lock:
            counts = [self._digests.get(digest, 0) for digest in _digests(prompts)]
        return sorted({place for last, count in enumerate(counts) for place in range(last + 1 - count, last + 1)})


def _digests(prompts: Sequence[str]) -> Iterator[bytes]:
    """One of each beginning of the conversation."""
    digest = hashlib.sha256()
    for prompt in prompts:
        digest.update(msgspec.json.encode(prompt.encode("utf-8", "surrogatepass")) + b"\n")
        yield digest.digest()
