"""The journal of one run, `<journal_dir>/RUN/journal.jsonl`: what it was started with, and the result of each step that succeeded.

It is kept in the same kind of file as a session: append-only, one process at a time, and it may be cut at any byte.
"""

import secrets
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from treblehook.agent.transcript import SessionBusy, Transcript, TranscriptFailed
from treblehook.contracts.vera.json_text import NotJson, parsed
from treblehook.workflow.errors import JournalFailed, RunBusy, RunNotFound


class Journal:
    """An open journal. `args` and `kwargs` are the run's own, `results` those of its steps by key, `inbox` what was left for it."""

    def __init__(self, file: Transcript, records: list[dict[str, Any]]) -> None:
        self._file = file
        start = records[0]
        self.run_id: str = start["id"]
        self.folder = file.path.parent.parent
        self.args: list[Any] = start["args"]
        self.kwargs: dict[str, Any] = start["kwargs"]
        self.results: dict[str, Any] = {record["key"]: record["result"] for record in records if record["type"] == "step"}
        self.inbox = _inbox(file.path.with_name("inbox.json"))

    @classmethod
    def create(cls, folder: Path, workflow: str, args: list[Any], kwargs: dict[str, Any]) -> "Journal":
        """The journal of a new run; missing folders are made, for their owner alone. Raises `JournalFailed`."""
        now = datetime.now(UTC)
        run_id = f"run_{now:%Y%m%d%H%M%S}_{secrets.token_hex(4)}"
        start = {"type": "run", "id": run_id, "workflow": workflow, "args": args, "kwargs": kwargs, "at": now.isoformat()}
        try:
            with ExitStack() as failed:
                file = Transcript.create(folder.absolute() / run_id / "journal.jsonl")
                failed.callback(file.close)
                file.append(start)
                failed.pop_all()
        except TranscriptFailed as failure:
            raise JournalFailed(failure.path, failure.reason) from failure
        return cls(file, [start])

    @classmethod
    def resume(cls, folder: Path, workflow: str, run_id: str) -> "Journal":
        """The journal of an earlier run. Raises `JournalFailed`: `RunNotFound`, and `RunBusy` while it is under way."""
        path = folder.absolute() / run_id / "journal.jsonl"
        if Path(run_id).name != run_id or not path.exists():
            raise RunNotFound(path, f"no run {run_id!r} is kept here")
        try:
            file, records = Transcript.resume(path)
        except SessionBusy as busy:
            raise RunBusy(path) from busy
        except TranscriptFailed as failure:
            raise JournalFailed(failure.path, failure.reason) from failure
        try:
            if not records or records[0].get("type") != "run":
                raise RunNotFound(path, "the run ended before its start was recorded; start it again")
            if records[0]["workflow"] != workflow:
                raise RunNotFound(path, f"it is a run of the workflow {records[0]['workflow']!r}, not of {workflow!r}")
            return cls(file, records)
        except KeyError as missing:
            file.close()
            raise JournalFailed(path, f"a record lacks {missing}") from missing
        except BaseException:
            file.close()
            raise

    def record(self, key: str, step: str, result: Any) -> None:
        """Keep the result of a step. Raises `JournalFailed`."""
        self._write("step", key=key, step=step, result=result)
        self.results[key] = result

    def end(self, status: str, **keys: Any) -> None:
        """Keep how an attempt ended. Raises `JournalFailed`."""
        self._write("end", status=status, **keys)

    def close(self) -> None:
        """Sync and let go of the file. Raises `JournalFailed`."""
        try:
            self._file.close()
        except TranscriptFailed as failure:
            raise JournalFailed(failure.path, failure.reason) from failure

    def _write(self, kind: str, **keys: Any) -> None:
        try:
            self._file.append({"type": kind, "at": datetime.now(UTC).isoformat(), **keys})
        except TranscriptFailed as failure:
            raise JournalFailed(failure.path, failure.reason) from failure


def _inbox(file: Path) -> dict[str, Any]:
    """What a person left for the run, as it is now; `{}` where there is no such file."""
    try:
        found = parsed(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, NotJson) as error:
        raise JournalFailed(file, str(error)) from error
    if not isinstance(found, dict):
        raise JournalFailed(file, "is not a JSON object")
    return found
