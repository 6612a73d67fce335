"""A workflow of three steps that counts what it did."""

from pathlib import Path
from typing import Any

import pytest

from treblehook.workflow import Run, StepHook, Workflow, step, workflow


class Search:
    """`hunt` looks in two places and then tells; `did` is what its steps' bodies were called with, `folder` keeps its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.did: list[Any] = []

        @step
        def look(place: str, depth: int = 1) -> dict[str, Any]:
            self.did.append((place, depth))
            return {"place": place, "palms": [depth, depth]}

        @step
        def tell(found: list[dict[str, Any]]) -> str:
            self.did.append(len(found))
            return f"{len(found)} places"

        @workflow
        def hunt(beach: str, cave: str = "cave") -> str:
            return tell([look(beach), look(cave, depth=3)])

        self.hunt: Workflow[..., str] = hunt

    def run(self, prepare_step: StepHook | list[StepHook] | None = None) -> Run[str]:
        return self.hunt.run("beach", journal_dir=self.folder, prepare_step=prepare_step)

    def resume(self, run: Run[str], prepare_step: StepHook | None = None) -> Run[str]:
        return self.hunt.resume(run.id, journal_dir=self.folder, prepare_step=prepare_step)

    def journal(self, run_id: str) -> Path:
        return self.folder / run_id / "journal.jsonl"


@pytest.fixture
def search(tmp_path: Path) -> Search:
    return Search(tmp_path / "runs")
