"""Big results: what a model is shown of them, and the file that keeps the whole."""

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from treblehook.host.private import make_private_folder

LIMIT = 30_000
HEAD = 20_000
TAIL = 8_000
"""Characters. A text over the limit is shown as its head, a line that says what is missing, and its tail."""

SAME_NAME = 1000
"""How many results of one call id are kept: some models number their calls anew in every reply."""


def limited(text: str) -> str:
    """At most 30,000 characters of `text`: all of it, or its first 20,000 and last 8,000 around a line about the rest."""
    if len(text) <= LIMIT:
        return text
    return f"{text[:HEAD]}\n[{len(text) - HEAD - TAIL} characters were left out here]\n{text[-TAIL:]}"


def spill(text: str, folder: Path, call_id: str) -> str:
    """`text`, or where it is over the limit `limited(text)` and a line that names the file with the whole.

    The file is `<folder>/<call id>.txt`, mode 0600, in UTF-8; folders are created. Where it cannot be written the line says so
    and why. Blocks while it writes.
    """
    if len(text) <= LIMIT:
        return text
    size = f"{len(text)} characters in {text.count(chr(10)) + 1} lines"
    try:
        path = _kept(text.encode("utf-8", "replace"), folder, _safe(call_id))
    except OSError as error:
        return f"{limited(text)}\n[The whole output, {size}, could not be kept: {error.strerror or error}.]"
    return f"{limited(text)}\n[The whole output, {size}, is in {path}. Look into it with read (offset, limit) or grep.]"


def _kept(data: bytes, folder: Path, name: str) -> Path:
    make_private_folder(folder)
    path, descriptor = _new_file(folder, name)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
    except BaseException:
        # A part would pass for the whole.
        with suppress(FileNotFoundError):
            path.unlink()
        raise
    return path


def _new_file(folder: Path, name: str) -> tuple[Path, int]:
    """A file that was not there, so that no older result is written over and no link is followed."""
    for number in range(1, SAME_NAME + 1):
        path = folder / (f"{name}.txt" if number == 1 else f"{name}-{number}.txt")
        with suppress(FileExistsError):
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    raise FileExistsError(f"{folder} has {SAME_NAME} files of this name")


def _safe(call_id: str) -> str:
    """`call_id` as a file name: itself where it is a plain one, else what is plain in it and a digest of the whole."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", call_id)[:80]
    if plain == call_id and plain:
        return plain
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{plain}-{digest}"
