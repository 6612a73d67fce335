"""A session's records from its file, as events of its stream."""

from pathlib import Path
from typing import Any, Final

import msgspec

from treblehook.agent.records import PUBLIC, Record
from treblehook.agent.transcript.records import encode_record
from treblehook.daemon.sessions.position import Position

CHUNK_BYTES: Final = 256 * 1024

_DECODER: Final = msgspec.json.Decoder(dict[str, Any])


def frame(position: Position | None, kind: str, record: Record) -> bytes:
    """A server-sent event; without a position it is nothing that a client can resume after."""
    place = f"id: {position}\n" if position is not None else ""
    return f"{place}event: {kind}\ndata: ".encode() + encode_record(record) + b"\n"


def read_frames(file: Path, start: int, end: int) -> tuple[list[tuple[Position, bytes]], int]:
    """The events of some of the records between two offsets, and the offset at which to go on; that is `start` where no whole
    record is left. Raises `OSError`."""
    with file.open("rb") as reading:
        reading.seek(start)
        data = reading.read(min(CHUNK_BYTES, end - start))
        if b"\n" not in data:
            # One record is larger than that.
            data += reading.readline()
    frames = []
    at = start
    for line in data.split(b"\n")[:-1]:
        at += len(line) + 1
        if (record := shown_as_stored(line)) is not None:
            position = Position(at)
            frames.append((position, frame(position, record["type"], record)))
    return frames, at


def shown_as_stored(line: bytes) -> Record | None:
    """The record as it was shown, as far as the file has it; `left_out` names what it has not. None for what nobody was shown.

    A final reply is kept as a message, and a damaged line is nothing.
    """
    try:
        record = _DECODER.decode(line)
        if record["type"] == "message":
            message = record["message"]
            if message["role"] != "assistant" or message.get("calls"):
                return None
            return {"type": "reply", "at": record["at"], "session": record["session"], "text": message["text"]}
        keys = PUBLIC.get(record["type"])
    except (msgspec.DecodeError, RecursionError, KeyError, TypeError):
        return None
    return None if keys is None else {key: record[key] for key in ("type", "at", "session", *keys, "left_out") if key in record}
