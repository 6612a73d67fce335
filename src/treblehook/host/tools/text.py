"""Telling text from binary, and a text file's encoding."""

import codecs

SAMPLE = 8192
"""How many bytes from the start of a file decide."""

# The longer marks first: the one of UTF-16 begins the one of UTF-32.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

MARK = "\ufeff"
"""The byte order mark, as the codecs named here leave it at the start of a text."""


def encoding_of(start: bytes) -> str | None:
    """The codec of a file that begins with `start`, or None for a binary file. Without a mark it is UTF-8; a NUL is binary."""
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return codec
    return None if b"\0" in start else "utf-8"
