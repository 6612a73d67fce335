"""The dispatcher of a capsule's session: a witness sees what it fires."""

from typing import Any, TypeVar

from treblehook.capsule.trace.witness import Witness
from treblehook.engine import Dispatcher, Outcome
from treblehook.lifecycle import Event

E = TypeVar("E", bound=Event)


class WitnessedDispatcher(Dispatcher):
    """Lets a witness see every event before and after it is told, whether or not a hook is bound to it."""

    def __init__(self, witness: Witness, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._witness = witness

    def reaches(self, event: Event) -> bool:
        """True: the witness is always there."""
        return True

    async def fire(self, event: E) -> Outcome[E]:
        """Ask the handlers of `event`, and write down what is to be written."""
        told = self._witness.counted(event)
        self._witness.before(told)
        outcome = await super().fire(told)
        self._witness.after(told, outcome)
        return outcome
