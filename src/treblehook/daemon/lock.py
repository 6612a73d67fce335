"""One daemon to a home."""

import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from treblehook.agent.transcript import SessionBusy
from treblehook.agent.transcript.lock import lock_session
from treblehook.host.problems import ConfigInvalid, Problem


class HomeServed(Exception):
    """Another daemon serves the home: `pid` and `url` are that one's, None where they are not known."""

    def __init__(self, home: Path, pid: int | None, url: str | None) -> None:
        who = " ".join(part for part in (f"process {pid}" if pid else "", f"at {url}" if url else "") if part)
        super().__init__(f"{home} is already served by another daemon{f', {who}' if who else ''}")
        self.home = home
        self.pid = pid
        self.url = url


class HomeLock:
    """The lock of `<home>/serve.lock`, held while it is entered; it ends with the process, however that ends.

    Entering raises `HomeServed`, and `ConfigInvalid` where the file cannot be made or locked.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = home / "serve.lock"
        self._descriptor = -1

    def tell(self, url: str) -> None:
        """Write down who holds it and where that one listens."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, msgspec.json.encode({"pid": os.getpid(), "url": url}) + b"\n", 0)

    def __enter__(self) -> Self:
        try:
            self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                lock_session(self._descriptor, self._file)
            except SessionBusy as busy:
                told = self._told()
                raise HomeServed(self._home, busy.pid or told.get("pid"), told.get("url")) from None
            except BaseException:
                os.close(self._descriptor)
                raise
        except OSError as error:
            raise ConfigInvalid([Problem(str(self._file), "", f"the home cannot be locked: {error.strerror}")]) from error
        os.ftruncate(self._descriptor, 0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._descriptor)

    def _told(self) -> dict[str, Any]:
        try:
            return msgspec.json.decode(os.pread(self._descriptor, 4096, 0), type=dict[str, Any])
        except (OSError, msgspec.DecodeError):
            # It has not been written yet.
            return {}
        finally:
            os.close(self._descriptor)
