"""One call that no dispatch waits for."""

from treblehook.engine.ask import ask_within, failure, own_limit
from treblehook.engine.background import Background
from treblehook.engine.errors import HookNotStarted, HookProblem
from treblehook.engine.handler import Answer, Handler
from treblehook.engine.journal import Call, Journal


class Alone:
    """A planned call; its end is recorded once, whether it is made, given up or both. Its own time limit holds."""

    def __init__(self, call: Call, journal: Journal, background: Background) -> None:
        self._call = call
        self._journal = journal
        self._background = background

    @property
    def handler(self) -> Handler:
        """Whose call it is."""
        return self._call.handler

    async def run(self) -> None:
        """Make the call."""
        if self.handler.removed:
            self.give_up(HookNotStarted("was removed before its turn came"))
            return
        try:
            event, limit = self._call.event, own_limit(self.handler)
            answer = await ask_within(self.handler, event, limit, self._background, self._journal.clock)
        except HookProblem as problem:
            self.give_up(problem)
        except BaseException as error:
            self.give_up(failure(self.handler, error))
            raise
        else:
            self._end(answer)

    def give_up(self, problem: HookProblem) -> None:
        """Record that the call has no answer; one that comes later is thrown away."""
        self._end(problem)

    def _end(self, result: Answer | HookProblem) -> None:
        if self._call.stopped is not None:
            return
        if isinstance(result, Answer):
            self._journal.answered(self._call, result)
        else:
            self._journal.failed(self._call, result)
        self._journal.tell([self._call])
