"""One turn, from prompt to end, with every event in order. Read this page first.

`run_turn` is the story; how each step is taken stands in `steps.py`.
"""

import asyncio
from collections.abc import Sequence

from treblehook.agent.errors import Blocked, LimitReached
from treblehook.agent.models.model import ModelFailed, ModelReply, ModelSpecInvalid
from treblehook.agent.steps import Turn, TurnEnd
from treblehook.host.calls import CallOutcome


async def run_turn(turn: Turn, prompts: Sequence[str]) -> TurnEnd:
    """Take one turn. What a hook, a model or a tool does wrong is in the answer; a cancelled turn is raised on.

    `prompts` are messages sent together; none at all is a delivery turn, which a background result starts.
    """
    try:
        return await take_turn(turn, prompts)
    except asyncio.CancelledError:
        turn.interrupted()
        raise
    except Exception:
        turn.broken()
        raise


async def take_turn(turn: Turn, prompts: Sequence[str]) -> TurnEnd:
    """The turn, if nobody stops it."""
    try:
        try:
            await turn.compact_if_full()  # row 9
        finally:
            turn.take(prompts)  # what the user said stays, even where the turn comes no further
        await turn.submit()  # row 3
        await turn.start_task(prompts)  # row 4
        while await attempt(turn, prompts):  # rows 5 to 18
            pass
        return await turn.complete("finished", "completed")  # row 19
    except Blocked as block:
        return await turn.complete("blocked", "error", block.reason)
    except (ModelFailed, ModelSpecInvalid, LimitReached) as failure:
        return await turn.complete("failed", "error", str(failure))


async def attempt(turn: Turn, prompts: Sequence[str]) -> bool:
    """One attempt at the turn's task; true where a hook has it done again. Raises why it failed."""
    try:
        await turn.context.find_notes(prompts)  # row 5
        await converse(turn)  # rows 6 to 18
    except (Blocked, ModelFailed, ModelSpecInvalid, LimitReached) as failure:
        if await turn.end_task(failure.exit_status if isinstance(failure, LimitReached) else "failed"):
            return True
        raise
    return await turn.end_task("ok")  # row 18


async def converse(turn: Turn) -> None:
    """Ask the model until it makes a final reply that no hook sends back; what it calls is run in between."""
    while True:
        reply = await turn.ask_model()  # rows 6, 7, 8
        await turn.compact_if_full(reply)  # row 9
        if reply.calls:
            outcomes = await run_calls(turn, reply)
            if turn.is_terminated(outcomes):
                return
            turn.take_joined()
            await turn.submit(joined=True)  # row 3, for messages that arrived meanwhile
        elif not await turn.goes_on(reply):  # row 18
            return


async def run_calls(turn: Turn, reply: ModelReply) -> list[CallOutcome]:
    """Rows 10 to 17 for the calls of one reply: all are proposed before any of them runs, then one runs after another."""
    proposals = [await turn.propose(call) for call in reply.calls]  # row 10
    turn.replies.keep(reply, proposals)
    outcomes = [await turn.run_call(proposal) for proposal in proposals]  # rows 11 to 17
    turn.replies.settled()
    return outcomes
