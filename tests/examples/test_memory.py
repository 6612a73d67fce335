"""examples/memory"""

from collections.abc import Callable

from tests.examples.conftest import Place
from tests.support.program import of
from treblehook import run


def test_a_note_is_there_in_the_next_session(place: Callable[[str], Place]) -> None:
    memory = place("memory")
    memory.plays({"text": "Aye."}, {"text": "Aye, aye."})

    kept = run("remember: the tide is low at noon\nRemember: bring spades", **memory.arguments)
    asked = run("when can we dig?", **memory.arguments)
    resumed = run("and now?", home=memory.home, resume=asked.session)

    assert [record["text"] for record in of(kept, "row")] == ["kept 2 notes · keep"]
    [row] = of(asked, "row")
    assert row["hook"] == "recall"
    assert row["text"].endswith("Notes from earlier sessions:\n\n- the tide is low at noon\n- bring spades")
    assert of(resumed, "row") == []


def test_without_a_note_nothing_is_added(place: Callable[[str], Place]) -> None:
    memory = place("memory")
    memory.plays({"text": "Aye."})

    reply = run("remember:\ndo you remember: this?", **memory.arguments)

    assert (reply.status, of(reply, "row")) == ("finished", [])
    assert not (memory.home / "memory.txt").exists()
