"""The format of a session's file: one JSON object a line. A record is whole once its line end is there."""

from typing import Any

import msgspec
from msgspec import Struct

from treblehook.agent.characters import characters
from treblehook.host.problems import Problem

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])


class Contents(Struct, frozen=True):
    """What a file holds: its records, and one problem for each whole line that is no record."""

    records: tuple[dict[str, Any], ...]
    damage: tuple[Problem, ...] = ()


def encode_record(record: dict[str, Any]) -> bytes:
    """The record as its line. A surrogate that is no character becomes U+FFFD; there is no way to write it in UTF-8.

    Raises `TypeError` for a value that JSON has no form for.
    """
    try:
        return _ENCODER.encode(record) + b"\n"
    except UnicodeEncodeError:
        return _ENCODER.encode(characters(msgspec.to_builtins(record))) + b"\n"


def read_records(data: bytes, file: str) -> Contents:
    """The records of a whole file. A damaged line is left out and reported; a last line that is not ended is torn, and not read."""
    records: list[dict[str, Any]] = []
    damage: list[Problem] = []
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            records.append(_DECODER.decode(line))
        except (msgspec.DecodeError, RecursionError) as error:
            damage.append(Problem(file, f"line {number}", f"no record, left out: {error}", level="warning"))
    return Contents(tuple(records), tuple(damage))
