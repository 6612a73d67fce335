"""Telling of extensions that do not load or have ended: the user now, the host log for later (vera.md 5.3)."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from treblehook.contracts.vera.host_log import HostLog
from treblehook.host.problems import Problem


class Reports:
    """Tells `report` of every problem, and the host log where there is one.

    `not_loaded` has the problems of the extensions that did not load, each with the extension's id.
    """

    def __init__(self, report: Callable[[Problem], None], log: HostLog | None = None) -> None:
        self.not_loaded: list[tuple[str, Problem]] = []
        self._report = report
        self._log = log

    def problems(self, problems: Sequence[Problem]) -> None:
        """Tell of what concerns no single extension."""
        for problem in problems:
            self._report(problem)

    def failed(self, extension: str, problems: Sequence[Problem]) -> None:
        """An extension did not load, for `problems`."""
        for problem in problems:
            self._not_loaded(extension, replace(problem, message=f"extension {extension} does not load: {problem.message}"))
        if self._log is not None:
            self._log.extension_failed(extension, "; ".join(map(str, problems)))

    def failed_at(self, extension: str, file: str, place: str, why: str) -> None:
        """An extension did not load, because of one thing."""
        self._not_loaded(extension, Problem(file, place, f"extension {extension} does not load: {why}"))
        if self._log is not None:
            self._log.extension_failed(extension, why)

    def _not_loaded(self, extension: str, problem: Problem) -> None:
        self.not_loaded.append((extension, problem))
        self._report(problem)

    def ended(self, extension: str, file: str, why: str) -> None:
        """An extension that had loaded is gone, or did not end as it should."""
        self._report(Problem(file, "", f"extension {extension} has ended: {why}", level="warning"))
        if self._log is not None:
            self._log.extension_ended(extension, why)

    def died(self, log: Path, what: str) -> None:
        """The process of all extensions has died; its own last words are in the file `log`."""
        self._report(Problem(str(log), "", what, level="warning"))
        if self._log is not None:
            self._log.node_died(what)
