"""Which way of showing a session fits a command's flags and its standard streams."""

import sys
from typing import Literal

from treblehook.cli.output.jsonl import JsonLines
from treblehook.cli.output.output import Output
from treblehook.cli.output.plain import Plain
from treblehook.cli.output.stream import Stream

Shape = Literal["text", "jsonl"]


def standard_streams() -> tuple[Stream, Stream]:
    """Standard output and standard error. What their encoding lacks is written out, and never an error."""
    for file in (sys.stdout, sys.stderr):
        # They may have been replaced by something that has no encoding.
        if reconfigure := getattr(file, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    return Stream(sys.stdout), Stream(sys.stderr)


def choose_output(shape: Shape, out: Stream, err: Stream) -> Output:
    """JSON lines, or text: with colour and cards where `out` is a terminal."""
    if shape == "jsonl":
        return JsonLines(out, err)
    if not out.terminal:
        return Plain(out, err)
    # Only a terminal needs rich.
    from treblehook.cli.output.terminal import Terminal

    return Terminal(out, err)
