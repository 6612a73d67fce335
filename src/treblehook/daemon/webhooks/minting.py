"""Writing secrets into `<home>/webhooks.toml` (crucible.md 8.4); comments and other entries stay as they are."""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import ParseError

from treblehook.daemon.webhooks.secrets import FILE
from treblehook.host.problems import ConfigInvalid, Problem

NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_BYTES: Final = 32


class SecretExists(Exception):
    """The webhook has a secret already."""

    def __init__(self, name: str, file: Path) -> None:
        super().__init__(f"webhook {name} has a secret already, in {file}; --rotate replaces it, and what was signed with it is refused")
        self.name = name
        self.file = file


def mint(home: Path, name: str, *, rotate: bool) -> str:
    """Write a new secret for the webhook `name`, which `NAME` matches, and answer it: 32 random bytes in hexadecimal.

    Raises `SecretExists` without `rotate`, and `ConfigInvalid` for a file that cannot be read, parsed or written: it is not touched.
    """
    file = Path(os.path.realpath(home / FILE))
    secret = secrets.token_hex(_BYTES)
    try:
        with _alone(home):
            document = _parsed(file)
            webhooks = document.setdefault("webhooks", tomlkit.table(is_super_table=True))
            table = webhooks.setdefault(name, tomlkit.table()) if isinstance(webhooks, MutableMapping) else None
            if not isinstance(table, MutableMapping):
                place = f"webhooks.{name}" if isinstance(webhooks, MutableMapping) else "webhooks"
                raise ConfigInvalid([Problem(str(file), place, "it is no table, and nothing was written")])
            if "secret" in table and not rotate:
                raise SecretExists(name, file)
            table["secret"] = secret
            _write(file, tomlkit.dumps(document).encode())
    except OSError as error:
        raise ConfigInvalid([Problem(str(file), "", f"it cannot be read or written: {error.strerror}")]) from error
    return secret


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Two who write at the same time would each lose what the other wrote."""
    descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _parsed(file: Path) -> MutableMapping[str, Any]:
    try:
        return tomlkit.parse(file.read_bytes().decode())
    except FileNotFoundError:
        return tomlkit.document()
    except (ParseError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigInvalid([Problem(str(file), "", f"no TOML, so it is not touched: {error}")]) from error


def _write(file: Path, content: bytes) -> None:
    """The whole file or nothing, with mode 0600."""
    draft = file.with_name(f".{file.name}-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as writing:
            writing.write(content)
            writing.flush()
            os.fsync(writing.fileno())
        os.rename(draft, file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
