"""The search of the tool `grep`, as a program: a regular expression that takes for ever is ended by ending the process.

It is run by path, with the standard library only. Standard input: a JSON object with `pattern`, `root` (a file or folder),
`base` (shown paths are relative to it where they lie in it), `skipped` (folder names), `matches` (how many to show),
`characters` (how many of a line) and `within` (null, or a folder outside of which no file is read, whatever link leads there).
Standard output: `path:line: text` for every line that matches; standard error: remarks, one a line. Exit status 2: `pattern`
is no regular expression; 3: `root` cannot be read. Standard error then says why.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

SAMPLE = 8192
LONGEST_LINE = 1_000_000
"""Bytes of one line that are looked at together."""


def main() -> int:
    """Search."""
    # os.walk is recursive in older Pythons; a path has room for about 2,000 folders.
    sys.setrecursionlimit(10_000)
    request = json.load(sys.stdin.buffer)
    try:
        pattern = re.compile(request["pattern"])
    except (re.error, OverflowError, RecursionError) as error:
        print(error, file=sys.stderr)
        return 2
    try:
        os.stat(request["root"])
    except OSError as error:
        print(error.strerror, file=sys.stderr)
        return 3
    unread: list[OSError] = []
    left = request["matches"]
    for path in _files(request["root"], set(request["skipped"]), unread.append):
        if not _is_within(path, request["within"]):
            continue
        try:
            left -= _search(path, pattern, request, left)
        except OSError as error:
            unread.append(error)
        if left <= 0:
            print(f"Only the first {request['matches']} matches are shown; a narrower pattern or path shows others.", file=sys.stderr)
            break
    if unread:
        print(f"{len(unread)} files or folders could not be read.", file=sys.stderr)
    return 0


def _files(root: str, skipped: set[str], on_error: Callable[[OSError], object]) -> Iterator[str]:
    if not os.path.isdir(root):
        yield root
        return
    for folder, folders, names in os.walk(root, onerror=on_error):
        folders[:] = sorted(name for name in folders if name not in skipped)
        for name in sorted(names):
            yield os.path.join(folder, name)


def _is_within(path: str, folder: str | None) -> bool:
    return folder is None or os.path.realpath(path).startswith(os.path.join(folder, ""))


def _search(path: str, pattern: re.Pattern[str], request: dict[str, Any], most: int) -> int:
    """Show the lines of one file that match, at most `most`; how many there were."""
    found = 0
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) or b"\0" in file.peek(SAMPLE)[:SAMPLE]:
            return 0
        for number, raw in _lines(file):
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            match = pattern.search(line)
            if match is None:
                continue
            found += 1
            _show(path, number, line, match.start(), request)
            if found >= most:
                break
    # What was found before a file that takes for ever is not lost.
    sys.stdout.buffer.flush()
    return found


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    number = 1
    while raw := file.readline(LONGEST_LINE):
        yield number, raw
        number += raw.endswith(b"\n")


def _show(path: str, number: int, line: str, at: int, request: dict[str, Any]) -> None:
    base = os.path.join(request["base"], "")
    name = os.fsencode(path.removeprefix(base)).decode("utf-8", "replace")
    most = request["characters"]
    if len(line) > most:
        start = max(0, min(at - most // 4, len(line) - most))
        line = ("…" if start else "") + line[start : start + most] + ("…" if start + most < len(line) else "")
    sys.stdout.buffer.write(f"{name}:{number}: {line}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
