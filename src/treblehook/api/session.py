"""One conversation of a program with an agent."""

from treblehook.agent.records import Record
from treblehook.agent.session import Session as AgentSession
from treblehook.agent.steps import TurnEnd
from treblehook.api.company import Asked, Witness
from treblehook.api.errors import PrepareTurnFailed
from treblehook.api.reentry import inside
from treblehook.api.reply import Reply


class Session:
    """An open session; `Home.session` makes one. `id` names it, also for `resume`."""

    def __init__(self, home: object, agent: AgentSession, witness: Witness, asked: Asked | None) -> None:
        self.id = agent.id
        self._home = home
        self._agent = agent
        self._witness = witness
        self._asked = asked

    async def prompt(self, *texts: str) -> Reply:
        """Take one turn for a message, or for several that are sent together, and wait for its end.

        A blocked prompt, a model that failed or an interruption is the reply's `status`. Raises `PrepareTurnFailed`, what the
        `approve` function raised, `TranscriptFailed`, ValueError for a blank text, and `CalledFromOwnHook`.
        """
        if not texts or not all(text.strip() for text in texts):
            raise ValueError("a prompt is a text that is not blank")
        with inside(self._home), self._witness.watching():
            end = await self._agent.prompt(*texts)
        return self._reply(end)

    async def settle(self) -> list[Reply]:
        """Wait for the subagents in the background, and take a turn for whatever they deliver, until all is quiet.

        Raises what `prompt` raises.
        """
        ends: list[TurnEnd] = []
        with inside(self._home), self._witness.watching():
            await self._agent.settle(ends.append)
        return [self._reply(end) for end in ends]

    async def interrupt(self) -> None:
        """Stop the turn that is under way; its reply says `interrupted`."""
        await self._agent.interrupt()

    async def close(self) -> None:
        """End the session: stop what runs, end its subagents, tell the end hooks. A second time does nothing."""
        await self._agent.finish("closed", self._witness.end)

    def take_records(self) -> tuple[Record, ...]:
        """The records since the last reply, those of the closing too; each is given once."""
        return self._witness.take()

    def _reply(self, end: TurnEnd) -> Reply:
        self._witness.end = end
        reply = Reply(self.id, end.status, end.text, end.reason, self._witness.take(), end.cut)
        unprepared = self._witness.take_unprepared(self.id)
        # A function that was given up, because the turn was stopped, has blocked nothing.
        if unprepared is not None and end.status == "blocked" and unprepared in end.reason:
            raise PrepareTurnFailed(unprepared, reply)
        if self._asked is not None and self._asked.error is not None:
            error, self._asked.error = self._asked.error, None
            raise error
        return reply
