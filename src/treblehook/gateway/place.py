"""Where the gateway of a home is reached."""

import hashlib
import os
from pathlib import Path
from typing import Final

_LONGEST: Final = 100
"""The system takes 107 bytes for the path of a socket; a client may have to bind one beside it."""


def socket_path(home: Path) -> Path:
    """The unix socket of the daemon of a home: in the home, or, where that path is too long for a socket, in a folder of this user's. It
    is the same whatever the environment says: an agent may start its hooks with another one than `treblehook install` had."""
    path = home / "gateway.sock"
    if len(os.fsencode(path)) <= _LONGEST:
        return path
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return Path("/tmp", f"treblehook-{os.getuid()}", f"treblehook-{digest}.sock")
