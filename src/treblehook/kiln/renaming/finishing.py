"""A renaming in the middle of which its process was killed is carried to its end: the note has its new path, and links lead there."""

import os
from collections.abc import Callable
from pathlib import Path

from treblehook.host.notes import NoteProblem
from treblehook.host.tools.files import Refused, write_file
from treblehook.kiln.files.paths import PathRefused, inside
from treblehook.kiln.files.reading import NoteUnread
from treblehook.kiln.files.root import Root
from treblehook.kiln.index.index import Writing
from treblehook.kiln.kiln import Change, Kiln
from treblehook.kiln.renaming.journal import Begun, Journal
from treblehook.kiln.renaming.plan import Plan, relative_of
from treblehook.kiln.renaming.rewriting import Unlinkable


def finish_renaming(kiln: Kiln, report: Callable[[str], None]) -> Change:
    """Finish what is unfinished in `kiln`, whose events are those of any renaming; one whose note has not moved yet has never been.

    What cannot be finished is told to `report`, and left as it is. Blocks; raises `IndexFailed`.
    """
    with kiln.index.database.write() as connection:
        journal = Journal(kiln.index.database.file)
        begun = journal.unfinished()
        if begun is None or not _is_there(kiln):
            return Change()
        try:
            change = _finished(kiln, Writing(connection), begun)
        except (OSError, Refused, NoteUnread, PathRefused, Unlinkable, NoteProblem) as error:
            report(f"the renaming of {begun.source} to {begun.destination} was broken off, so links may still name the old path: {error}")
            change = Change()
        journal.end()
        return change


def _is_there(kiln: Kiln) -> bool:
    """Its disk may come back later."""
    try:
        Root.at(kiln.root)
    except OSError:
        return False
    return True


def _finished(kiln: Kiln, writing: Writing, begun: Begun) -> Change:
    relative = relative_of(writing, begun.source)
    source, destination = inside(kiln.root, relative), inside(kiln.root, begun.destination)
    if not os.path.lexists(destination):
        return Change()
    if os.path.lexists(source):
        if not os.path.samefile(source, destination):
            return Change()
        # Between the two steps of the move the note has both names.
        os.unlink(source)
    plan = Plan(kiln, begun.source, begun.destination)
    rewrites = plan.rewrites(writing, begun.destination, begun.digest)
    for one in rewrites:
        write_file(Path(kiln.root, one.relative), one.path, one.after)
    return Change(plan.take_in(writing, [one for one in rewrites if one.path != begun.destination]))
