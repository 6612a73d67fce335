"""Deleted sessions are in the trash, or are open again where they could not be deleted (vera.md 3.7)."""

import pytest

from tests.sessions.conftest import ended, started
from tests.support.nest import Nest, bash
from treblehook.agent.transcript import SessionBusy, SessionUnknown
from treblehook.home.residents import DeletionFailed, Residents


async def test_a_deleted_session_is_in_the_trash(nest: Nest, residents: Residents) -> None:
    nest.plays(bash("yes | head -c 100000"))
    session = await residents.open(nest.wish(), nest.company(), client="a")
    await session.prompt("go")
    content = nest.stored(session)

    await residents.delete(session.id)

    assert ended(nest) == ["deleted"]
    assert list((nest.folder / "sessions").iterdir()) == []
    trash = nest.folder / "trash"
    assert sorted(path.name for path in trash.iterdir()) == [session.id, f"{session.id}.jsonl"]
    assert len((trash / f"{session.id}.jsonl").read_text().splitlines()) >= len(content)
    assert len(list((trash / session.id / "results").iterdir())) == 1
    assert oct(trash.stat().st_mode & 0o777) == "0o700"
    with pytest.raises(SessionUnknown):
        await residents.open(nest.wish(resume=session.id), nest.company(), client="a")
    with pytest.raises(SessionUnknown):
        await residents.delete(session.id)


async def test_a_session_that_is_not_open_is_deleted_without_a_word(nest: Nest, residents: Residents) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a")
    await residents.close(session.id)

    await residents.delete(session.id)

    assert (started(nest), ended(nest)) == (["start"], ["closed"])
    assert (nest.folder / "trash" / f"{session.id}.jsonl").exists()


async def test_a_session_that_is_open_elsewhere_is_not_deleted(nest: Nest, residents: Residents) -> None:
    session = await nest.open()

    with pytest.raises(SessionBusy):
        await residents.delete(session.id)

    assert (nest.folder / "sessions" / f"{session.id}.jsonl").exists()


@pytest.mark.parametrize("obstacle", ["file", "folder"])
async def test_a_deletion_that_fails_moves_nothing_and_brings_the_session_back(nest: Nest, residents: Residents, obstacle: str) -> None:
    nest.plays(bash("yes | head -c 100000"))
    session = await residents.open(nest.wish(), nest.company(), client="a")
    await session.prompt("go")
    blocked = nest.folder / "trash" / (f"{session.id}.jsonl" if obstacle == "file" else session.id)
    (blocked / "in the way").mkdir(parents=True)

    with pytest.raises(DeletionFailed):
        await residents.delete(session.id)

    assert (started(nest), ended(nest)) == (["start", "resume"], ["deleted"])
    assert len(list((nest.folder / "sessions" / session.id / "results").iterdir())) == 1
    (again,) = residents.sessions
    assert (await again.prompt("still there?")).status == "finished"
    await residents.detach(session.id, "a")
    assert ended(nest) == ["deleted", "detached"]


async def test_a_deletion_of_what_is_not_open_that_fails_opens_nothing(nest: Nest, residents: Residents) -> None:
    session = await residents.open(nest.wish(), nest.company(), client="a")
    await residents.close(session.id)
    (nest.folder / "trash").write_text("")

    with pytest.raises(DeletionFailed):
        await residents.delete(session.id)

    assert started(nest) == ["start"]
    assert residents.sessions == []
