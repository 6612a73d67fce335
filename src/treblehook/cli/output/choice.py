"""Which way of showing a session fits a command's flags and its standard streams."""

import os
import sys
from typing import Literal, TextIO

from treblehook.cli.output.jsonl import JsonLines
from treblehook.cli.output.output import Output
from treblehook.cli.output.plain import Plain
from treblehook.cli.output.stream import Stream

Shape = Literal["text", "jsonl"]


def standard_streams() -> tuple[Stream, Stream]:
    """Standard output and standard error. What their encoding lacks is written out, and never an error."""
    return _stream(sys.stdout), _stream(sys.stderr)


def _stream(file: TextIO | None) -> Stream:
    if file is None:
        # The process was started with this stream closed.
        file = open(os.devnull, "w")  # noqa: SIM115 - it is used until the process ends
    # It may have been replaced by something that has no encoding.
    if reconfigure := getattr(file, "reconfigure", None):
        reconfigure(errors="backslashreplace")
    return Stream(file)


def choose_output(shape: Shape, out: Stream, err: Stream) -> Output:
    """JSON lines, or text: with colour and cards where `out` is a terminal."""
    if shape == "jsonl":
        return JsonLines(out, err)
    if not out.terminal:
        return Plain(out, err)
    # Only a terminal needs rich.
    from treblehook.cli.output.terminal import Terminal

    return Terminal(out, err)
