"""Which sessions of outside agents have been met: each starts once, however often the gateway is started anew."""

import hashlib
import os
import secrets
from pathlib import Path

import msgspec
from msgspec import Struct

from treblehook.host.private import make_private_folder


class Met(Struct, frozen=True):
    """A session that has been met: our id of it, the folder that it began in, and why its start was refused, None where it was not."""

    id: str
    workspace: str
    refusal: str | None = None


class MetSessions:
    """Those of the home at `home`, one small file each in `<home>/gateway/sessions`."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "gateway" / "sessions"

    def find(self, key: str) -> Met | None:
        """What is known of a session; None where it has not been met, or where what is written of it cannot be read."""
        try:
            return msgspec.json.decode(self._file(key).read_bytes(), type=Met)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def keep(self, key: str, met: Met) -> None:
        """Write it down. The file is there as a whole or not at all. Raises `OSError`."""
        make_private_folder(self._folder)
        file = self._file(key)
        draft = file.with_name(f".{secrets.token_hex(8)}")
        try:
            draft.write_bytes(msgspec.json.encode(met))
            os.replace(draft, file)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def _file(self, key: str) -> Path:
        # The agent chooses its ids, so they name no file of ours.
        return self._folder / f"{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:32]}.json"
