"""A full pass beside everything else that goes on in a kiln."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from treblehook.host.notes import NoteProblem
from treblehook.kiln.index.errors import IndexDamaged
from treblehook.kiln.indexing.full_pass import FullPass
from treblehook.kiln.kiln import Change, Kiln
from treblehook.kiln.renaming.finishing import finish_renaming
from treblehook.lifecycle.daemon_events import NoteDeleted


class Progress(Struct, frozen=True):
    """How far the indexing of a kiln is: notes done, of how many."""

    kiln: str
    stage: Literal["reading", "embedding"]
    done: int
    total: int


Watcher = Callable[[Progress], None]


async def index_kiln(kiln: Kiln, *, force: bool = False, progress: Watcher = lambda progress: None) -> FullPass:
    """Bring the index up to the files. Raises `NoteProblem` for an index that fails; a damaged one is made anew first.

    Others may write notes meanwhile: they wait for one step at most. What was interrupted goes on with the next call.
    """
    try:
        return await _passed(kiln, force, progress)
    except NoteProblem as problem:
        if not isinstance(problem.__cause__, IndexDamaged):
            raise
    await kiln.remake()
    return await _passed(kiln, force, progress)


async def _passed(kiln: Kiln, force: bool, progress: Watcher) -> FullPass:
    unfinished: list[str] = []
    # Before the index learns what has become of the files.
    await kiln.change(lambda: finish_renaming(kiln, unfinished.append))
    for problem in unfinished:
        kiln.report("", problem)
    full = FullPass(kiln.index, kiln.root, force=force)
    await kiln.change(_quiet(full.look))
    total = full.left
    while full.left:
        progress(Progress(kiln.name, "reading", total - full.left, total))
        await kiln.change(_quiet(full.step))
    await kiln.change(lambda: Change([NoteDeleted(path=path, kiln=kiln.name, existed=True) for path in full.sweep()]))
    progress(Progress(kiln.name, "reading", total, total))
    kiln.report_all(full.problems)
    kiln.hearer.completed(full.complete())
    return full


def _quiet(work: Callable[[], None]) -> Callable[[], Change]:
    """The work, which announces nothing."""

    def done() -> Change:
        work()
        return Change()

    return done


async def embed_kiln(kiln: Kiln, progress: Watcher = lambda progress: None) -> None:
    """Make the vectors that notes lack, a few at a time; what was interrupted goes on with the next call. Raises `NoteProblem`."""
    done = left = 0

    def some() -> Change:
        nonlocal done, left
        vectors = kiln.vectors()
        if vectors is not None:
            done += vectors.embed_some()
            left = vectors.left()
        return Change()

    await kiln.change(some)
    while left:
        progress(Progress(kiln.name, "embedding", done, done + left))
        await kiln.change(some)
    if done:
        progress(Progress(kiln.name, "embedding", done, done))
