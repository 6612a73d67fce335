"""Handlers of note events, through the engine and the bus: they react, and cannot undo what has happened."""

from tests.support.hooks import stub
from tests.support.kiln_rig import KilnRig, note
from treblehook.engine import Background, Dispatcher, Journal, Registry
from treblehook.home.bus import LONGEST_CHAIN, ChainTooLong, EventBus
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns
from treblehook.lifecycle import NoteCreated, NoteModified, Stop


def bus(rig: KilnRig, *given: object) -> tuple[EventBus, list[str]]:
    """A bus whose handlers give these answers, and what they are asked."""
    asked: list[str] = []
    registry = Registry()
    for number, answer in enumerate(given):

        def ask(event: NoteCreated | NoteModified, number: int = number, answer: object = answer) -> object:
            asked.append(f"{number} {event.path}")
            return answer

        for kind in (NoteCreated, NoteModified):
            registry.add(stub(kind, ask, name=f"h{number}"))
    dispatcher = Dispatcher(registry, background=Background(), journal=Journal())
    made = EventBus(dispatcher.fire, lambda event, error: None)
    rig.on_event = lambda event: (rig.events.append(event), made.tell(event))[0]
    return made, asked


async def test_case_129_a_stop_spares_the_later_handlers_and_the_note_stays_changed(rig: KilnRig) -> None:
    made, asked = bus(rig, Stop(), None)
    async with rig.indexed() as kilns:
        await kilns.write(note("a.md"), "# A")
        await made.drain(60)
        assert asked == ["0 a.md"]
        assert await kilns.read(note("a.md")) == "# A"
        assert await kilns.info(note("a.md")) is not None


async def test_case_130_a_handler_that_raises_leaves_the_later_ones(rig: KilnRig) -> None:
    made, asked = bus(rig, ValueError("broke"), None)
    async with rig.indexed() as kilns:
        await kilns.write(note("a.md"), "a")
        await kilns.write(note("a.md"), "b")
        await made.drain(60)
    assert asked == ["0 a.md", "1 a.md", "0 a.md", "1 a.md"]


async def test_a_handler_may_write_notes_itself(rig: KilnRig) -> None:
    async with rig.indexed() as kilns:

        async def digest(event: NoteCreated) -> None:
            if event.path != "digest.md":
                await kilns.write(note("digest.md"), f"[[{event.path}]]")

        registry = Registry()
        registry.add(stub(NoteCreated, digest))
        made = EventBus(Dispatcher(registry, background=Background(), journal=Journal()).fire, lambda event, error: None)
        rig.on_event = made.tell
        await kilns.write(note("a.md"), "a")
        await made.drain(60)
        assert await kilns.read(note("digest.md")) == "[[a.md]]"


def test_kilns_are_notes_to_everybody_else(rig: KilnRig) -> None:
    from treblehook.host.notes import Notes

    notes: Notes = Kilns({}, rig.store, Hearer(print))
    assert notes.kilns == ()


async def test_a_handler_that_writes_the_note_it_is_told_of_does_not_go_on_for_ever(rig: KilnRig) -> None:
    failures: list[Exception] = []
    async with rig.watched() as kilns:

        async def append(event: NoteModified) -> None:
            await kilns.write(note(event.path), await kilns.read(note(event.path)) + "x")

        registry = Registry()
        registry.add(stub(NoteModified, append))
        dispatcher = Dispatcher(registry, background=Background(), journal=Journal())
        made = EventBus(dispatcher.fire, lambda event, error: failures.append(error))
        rig.on_event = made.tell
        await kilns.write(note("a.md"), "")
        await kilns.write(note("a.md"), "x")
        assert await made.drain(60) == 0
        assert [type(error) for error in failures] == [ChainTooLong]
        assert await kilns.read(note("a.md")) == "x" * (LONGEST_CHAIN + 1)
