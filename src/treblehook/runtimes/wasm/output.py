"""What a guest prints, as much of it as is kept."""

from msgspec import Struct


class Output(Struct, frozen=True):
    """The beginning of what was printed, and how many bytes came after it."""

    kept: bytes
    dropped: int


class Capture:
    """Takes chunks from the guest's thread; reading it from another is fine."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._dropped = 0

    def __call__(self, chunk: bytes) -> None:
        room = self._limit - len(self._kept)
        self._kept += chunk[:room]
        self._dropped += max(0, len(chunk) - room)

    @property
    def output(self) -> Output:
        return Output(bytes(self._kept), self._dropped)
