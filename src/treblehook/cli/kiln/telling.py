"""How what happens in kilns is shown: as text or as JSON lines on stdout, and a bar on a terminal."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import click
import msgspec

from treblehook.cli.home_options import say_json
from treblehook.cli.output.safe_text import safe
from treblehook.kiln.indexing.full_pass import ProcessComplete
from treblehook.kiln.indexing.run import Progress
from treblehook.lifecycle.daemon_events import DaemonEvent

if TYPE_CHECKING:
    from rich.progress import TaskID

_OF_SESSIONS: Final = frozenset({"session", "workspace", "spawned"})
_DOING: Final = {"reading": "indexing", "embedding": "finding meanings in"}


class Shown:
    """`output` is `text` or `jsonl`. JSON lines: `event`, `progress` and `process_complete`, each with its fields."""

    def __init__(self, output: str) -> None:
        self.output = output

    def event(self, event: DaemonEvent) -> None:
        """Something happened to a file or a note."""
        fields = {name: value for name, value in msgspec.to_builtins(event).items() if name not in _OF_SESSIONS}
        if self.output == "jsonl":
            say_json({"type": "event", "event": type(event).__name__, **fields})
        else:
            click.echo(safe(f"{type(event).__name__:<13} {_where(fields)}"))

    def completed(self, complete: ProcessComplete) -> None:
        """A full pass is done."""
        if self.output == "jsonl":
            say_json({"type": "process_complete", **msgspec.to_builtins(complete)})
            return
        counts = f"{complete.processed} indexed, {complete.skipped} unchanged or left out, {complete.errors} unreadable"
        removed = f", {complete.removed} gone" if complete.removed else ""
        click.echo(f"{complete.kiln}: {complete.discovered} notes: {counts}{removed}")


class Bar:
    """A bar on stderr where that is a terminal, `progress` records for JSON lines, and nothing otherwise."""

    def __init__(self, output: str) -> None:
        self._jsonl = output == "jsonl"
        self._bar: Any = None
        self._tasks: dict[tuple[str, str], TaskID] = {}
        if not self._jsonl and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bars(*columns, console=Console(stderr=True))

    def __call__(self, progress: Progress) -> None:
        """Show how far it is."""
        if self._jsonl:
            say_json({"type": "progress", **msgspec.to_builtins(progress)})
        elif self._bar is not None:
            key = (progress.kiln, progress.stage)
            if key not in self._tasks:
                self._tasks[key] = self._bar.add_task(f"{_DOING[progress.stage]} {progress.kiln}")
            self._bar.update(self._tasks[key], completed=progress.done, total=progress.total)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()


def _where(fields: dict[str, Any]) -> str:
    kiln = f"{fields['kiln']}: " if fields.get("kiln") else ""
    source = f"{fields['source']} -> " if "source" in fields else ""
    return f"{kiln}{source}{fields.get('path', fields.get('destination', ''))}"
