"""`cru.kiln` and `cru.graph`: the notes (crucible.md 10.2). A note is named by its path in its kiln and, where there are several kilns,
by the option `kiln`. What cannot be done raises."""

from collections.abc import Awaitable, Callable
from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments, Options
from treblehook.contracts.crucible.library.kinds import COUNT, OCTETS, TEXT, WORD, list_of
from treblehook.contracts.crucible.library.library import Library, missing
from treblehook.host.notes import FoundNote, NoteId, NoteInfo, NoteProblem, Notes
from treblehook.runtimes.lua import LuaRaise

Ask = Callable[[Notes, Arguments], Awaitable[Any]]


def install_kiln(library: Library) -> None:
    _provide(library, "cru.kiln.search", _search)
    _provide(library, "cru.kiln.list", _list)
    _provide(library, "cru.kiln.read", _read)
    _provide(library, "cru.kiln.info", _info)
    _provide(library, "cru.kiln.links", _links)
    _provide(library, "cru.kiln.backlinks", _backlinks)
    _provide(library, "cru.kiln.write", _write)
    _provide(library, "cru.kiln.delete", _delete)
    _provide(library, "cru.kiln.rename", _rename)


def install_graph(library: Library) -> None:
    _provide(library, "cru.graph.links", _links)
    _provide(library, "cru.graph.backlinks", _backlinks)


def _provide(library: Library, function: str, ask: Ask) -> None:
    async def asked(*given: object) -> Any:
        notes = library.services.notes
        if notes is None:
            missing(function, "this host has no kilns")
        try:
            return await ask(notes, Arguments(function, given))
        except NoteProblem as problem:
            raise LuaRaise(f"{function}: {problem}") from problem

    library.lua.provide_async(function, asked)


async def _search(notes: Notes, call: Arguments) -> Any:
    query = call.take("query", WORD)
    options = call.options("kilns", "limit")
    limit = options.read("limit", COUNT, 10)
    return [_found(note) for note in await notes.search(query, kilns=options.read("kilns", list_of(WORD)), limit=limit)]


async def _list(notes: Notes, call: Arguments) -> Any:
    options = call.options("kilns", "folder")
    return [_told(note) for note in await notes.listed(kilns=options.read("kilns", list_of(WORD)), folder=options.read("folder", TEXT, ""))]


async def _read(notes: Notes, call: Arguments) -> Any:
    return await notes.read(_note(notes, call))


async def _info(notes: Notes, call: Arguments) -> Any:
    """nil for a note that the index does not have."""
    info = await notes.info(_note(notes, call))
    return None if info is None else _told(info)


async def _links(notes: Notes, call: Arguments) -> Any:
    """The wikilinks of a note, as they are written there."""
    note = _note(notes, call)
    info = await notes.info(note)
    if info is None:
        call.refuse(f"{note.kiln}: there is no note '{note.path}'")
    return list(info.links)


async def _backlinks(notes: Notes, call: Arguments) -> Any:
    return [_named(note) for note in await notes.backlinks(_note(notes, call))]


async def _write(notes: Notes, call: Arguments) -> Any:
    """`created`, `modified` or `unchanged`."""
    path, text = call.take("path", WORD), call.take("text", OCTETS)
    try:
        return await notes.write(_in_kiln(notes, call, path, call.options("kiln")), text.decode())
    except UnicodeDecodeError:
        call.refuse("argument 2 (`text`) is a string that is not UTF-8; allowed: text")


async def _delete(notes: Notes, call: Arguments) -> Any:
    """Whether there was one."""
    return await notes.delete(_note(notes, call))


async def _rename(notes: Notes, call: Arguments) -> Any:
    """The notes whose links were changed."""
    path, destination = call.take("path", WORD), call.take("destination", WORD)
    return [_named(note) for note in await notes.rename(_in_kiln(notes, call, path, call.options("kiln")), destination)]


def _note(notes: Notes, call: Arguments) -> NoteId:
    path = call.take("path", WORD)
    return _in_kiln(notes, call, path, call.options("kiln"))


def _in_kiln(notes: Notes, call: Arguments, path: str, options: Options) -> NoteId:
    kiln = options.read("kiln", WORD, notes.kilns[0] if len(notes.kilns) == 1 else None)
    if kiln is None:
        call.refuse(f"say in which kiln with the option `kiln`; configured: {', '.join(notes.kilns) or 'none'}")
    return NoteId(kiln, path)


def _named(note: NoteId) -> dict[str, Any]:
    return {"kiln": note.kiln, "path": note.path}


def _found(note: FoundNote) -> dict[str, Any]:
    return {**_named(note.id), "title": note.title, "score": note.score, "snippet": note.snippet, "tags": note.tags}


def _told(note: NoteInfo) -> dict[str, Any]:
    return {**_named(note.id), "title": note.title, "tags": note.tags, "links": note.links, "modified": note.modified}
