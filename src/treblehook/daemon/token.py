"""`<home>/token`: the key that callers from elsewhere show."""

import os
import secrets
import stat
from pathlib import Path
from typing import Final

from treblehook.daemon.settings import SHORT_KEY
from treblehook.host.problems import ConfigInvalid, Problem

_BYTES: Final = 32


def load_token(home: Path) -> tuple[str, list[Problem]]:
    """The key, minted if there is none yet, and warnings about its file.

    The file is there as a whole, with mode 0600, or not at all. Raises `ConfigInvalid` where it cannot be read or made, or holds
    no key.
    """
    file = home / "token"
    try:
        if not file.exists():
            _mint(file)
        token = file.read_bytes().decode().strip()
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError as error:
        raise ConfigInvalid([Problem(str(file), "", f"the key cannot be read or made: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise ConfigInvalid([Problem(str(file), "", "found bytes that are no text", _REMEDY)]) from error
    if len(token) < SHORT_KEY or not (token.isascii() and token.isprintable()):
        found = f"found a key of {len(token)} characters" if token else "it is empty"
        raise ConfigInvalid([Problem(str(file), "", found, _REMEDY)])
    if mode & 0o077:
        return token, [Problem(str(file), "", f"it has mode {mode:04o}: others may read the key", f"chmod 600 {file}", level="warning")]
    return token, []


_REMEDY: Final = f"allowed: at least {SHORT_KEY} printable ASCII characters; delete the file to have a key made"


def _mint(file: Path) -> None:
    draft = file.with_name(f".token-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as writing:
            writing.write(secrets.token_hex(_BYTES) + "\n")
            writing.flush()
            os.fsync(writing.fileno())
        os.rename(draft, file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
