"""Row 5: notes that may bear on the user's message are found, and hooks choose among them and write what the model reads.

It is done at the best: whatever fails is told in a row, and the turn goes on without notes.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from treblehook.agent.context.block import NOTES_TAG, block, capped, rendered
from treblehook.agent.state import SessionState
from treblehook.host.notes import FoundNote, NoteProblem, Notes
from treblehook.lifecycle import ChooseNotes, Message, Note, NoteChoice, NotesChosen, NotesRetrieved, RenderNotes

_SEARCH_COMMAND: Final = "/search"
_SECONDS: Final = 10.0
"""How long a turn waits for its notes, which may be on a disk that does not answer."""


async def notes_for(state: SessionState, prompt: str) -> Message | None:
    """The message for the head of the context of the turn that `prompt` starts; None where there are no notes to tell of."""
    if state.notes is None or not state.kilns or not state.precognition.enabled:
        return None
    if not prompt.strip() or prompt.startswith(_SEARCH_COMMAND):
        return None
    found = await _retrieved(state, state.notes, prompt)
    if found is None:
        return None
    chosen = capped(await _chosen(state, prompt, found), state.precognition.char_budget)
    return block(await _text(state, prompt, chosen)) if chosen else None


async def _retrieved(state: SessionState, notes: Notes, prompt: str) -> tuple[Note, ...] | None:
    """The notes as events have them, or None where they could not be looked up."""
    state.recorder.listener.working(state.facts.session, "looking for notes")
    search = asyncio.ensure_future(notes.retrieve(prompt, kilns=state.kilns, limit=state.precognition.results))
    try:
        await asyncio.wait({search}, timeout=_SECONDS)
    finally:
        if not search.done():
            state.background.abandon(search)
    if search.done() and not search.cancelled() and search.exception() is None:
        return tuple(_note(place, note) for place, note in enumerate(search.result(), start=1))
    _row(state, f"no notes: {_why(search)}")
    return None


def _why(search: "asyncio.Future[list[FoundNote]]") -> str:
    """Why a search gave nothing."""
    if not search.done():
        return f"the search took longer than {_SECONDS:.0f} s"
    error = None if search.cancelled() else search.exception()
    return str(error) if isinstance(error, NoteProblem) else f"the search failed: {error!r}"


def _note(index: int, found: FoundNote) -> Note:
    """The name of the note's file is its title, and only its kiln's name says where it is."""
    title = found.id.path.rsplit("/", 1)[-1]
    while title.endswith(".md"):
        title = title.removesuffix(".md")
    return Note(index, title or found.title, found.score, found.snippet, found.id.kiln or None)


async def _chosen(state: SessionState, prompt: str, notes: tuple[Note, ...]) -> Sequence[Note]:
    """What a hook makes of the notes; all of them without one. A choice of which nothing is left is none."""
    budget = state.precognition.char_budget
    outcome = await state.fire(NotesRetrieved(prompt=prompt, char_budget=budget, notes=notes, **state.facts.fields()))
    if not isinstance(outcome.decision, ChooseNotes) or outcome.by is None:
        return notes
    kept: dict[int, Note] = {}
    unusable = []
    for choice in outcome.decision.notes:
        if 1 <= choice.index <= len(notes) and choice.index not in kept:
            kept[choice.index] = _with_text(notes[choice.index - 1], choice)
        else:
            unusable.append(choice.index)
    if unusable:
        _row(state, f"{outcome.by.name} chose notes that were not found, or twice: {', '.join(map(str, unusable))}")
    return notes if unusable and not kept else list(kept.values())


def _with_text(note: Note, choice: NoteChoice) -> Note:
    return note if choice.snippet is None else Note(note.index, note.title, note.score, choice.snippet, note.kiln)


async def _text(state: SessionState, prompt: str, notes: tuple[Note, ...]) -> str:
    outcome = await state.fire(NotesChosen(prompt=prompt, notes=notes, **state.facts.fields()))
    text = outcome.decision.text if isinstance(outcome.decision, RenderNotes) else rendered(notes, kilns=len(state.kilns))
    if text.strip():
        _row(state, f"notes in the context: {', '.join(note.title for note in notes)}")
    return text


def _row(state: SessionState, text: str) -> None:
    state.recorder.write("row", text=text, hook=NOTES_TAG)
