"""What the functions of `cru` stand on; whoever makes the Lua machines of a host hands the same services to all of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from treblehook.contracts.crucible.library.http_client import HttpClient
from treblehook.contracts.crucible.library.storage_file import StorageFile
from treblehook.host.notes import Notes
from treblehook.host.reach import Reach
from treblehook.runtimes.process import ProcessRuntime


def _nowhere(session: str) -> Path | None:
    return None


class Services(Struct, frozen=True):
    """A service that is None is not there: functions that need it raise in Lua and say so.

    `processes` should be a runtime of its own with many places, because a command of a plugin may take long. `state` is the folder
    in which each plugin has one of its own, `storage` the file of `cru.storage`. `settings` are the `[plugins.NAME]` sections,
    `kilns` the `[kilns]` entries. `workspace` and `session_folder` answer for a session's id, None where there is none.
    """

    environ: Mapping[str, str]
    processes: ProcessRuntime
    http: HttpClient
    state: Path | None = None
    storage: StorageFile | None = None
    settings: Mapping[str, Mapping[str, Any]] = {}
    kilns: Mapping[str, Path] = {}
    workspace: Callable[[str], Path | None] = _nowhere
    session_folder: Callable[[str], Path | None] = _nowhere
    reach: Reach | None = None
    notes: Notes | None = None
