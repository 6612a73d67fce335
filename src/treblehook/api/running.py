"""One prompt from start to end: a home is opened, asked and closed."""

import asyncio
import os
from typing import TypedDict, Unpack

import msgspec

from treblehook.api.company import Approve
from treblehook.api.home import Home
from treblehook.api.reply import Reply
from treblehook.contracts.python import Hooks
from treblehook.contracts.python.loop import loop_is_running
from treblehook.contracts.vera.turn_functions import BeforeTurnEnds, PrepareTurn


class SessionOptions(TypedDict, total=False):
    """The arguments of `Home.session`."""

    workspace: str | os.PathLike[str] | None
    model: str | None
    resume: str | None
    hooks: Hooks | None
    approve: Approve
    prepare_turn: PrepareTurn | None
    before_turn_ends: BeforeTurnEnds | None


async def arun(prompt: str, *, home: str | os.PathLike[str] | None = None, **options: Unpack[SessionOptions]) -> Reply:
    """Send `prompt` to a session of its own in `home`, wait until its subagents are done too, and close everything.

    The reply holds every record of the session. Raises what `Home`, `Home.session` and `Session.prompt` raise.
    """
    async with Home(home) as opened:
        session = await opened.session(**options)
        replies = [await session.prompt(prompt)]
        if replies[0].status == "finished":
            replies += await session.settle()
        await session.close()
        last = next((reply for reply in replies if reply.status != "finished"), replies[-1])
        records = [record for reply in replies for record in reply.records]
        return msgspec.structs.replace(last, records=(*records, *session.take_records()))


def run(prompt: str, *, home: str | os.PathLike[str] | None = None, **options: Unpack[SessionOptions]) -> Reply:
    """`arun` for scripts, which have no event loop of their own. Raises RuntimeError inside a running one."""
    if loop_is_running():
        raise RuntimeError("run() would stall the event loop that is running here; use: await arun(...)")
    return asyncio.run(arun(prompt, home=home, **options))
