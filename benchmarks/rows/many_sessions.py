"""A thousand open sessions with Lua machines in one home: how fast they answer events, beside one of them; what each takes."""

import os
import tempfile
from itertools import cycle, islice
from pathlib import Path

from benchmarks.row import Limit, Line
from benchmarks.timing import Action, fastest
from treblehook.agent.listener import Listener
from treblehook.agent.permissions import Never
from treblehook.agent.session import Session
from treblehook.home.home import Home
from treblehook.home.profile import SessionWish
from treblehook.home.sessions import Company, open_session
from treblehook.lifecycle import PreToolCall, ToolCall

LIMIT = Limit(at_least=0.5)
SESSIONS = 1000
INIT = """
cru.on("pre_tool_call", { pattern = "bash" }, function(ctx, event)
  if event.args.command == "never" then return { cancel = true, reason = "no" } end
end)
"""
CALL = ToolCall("call_1", "bash", {"command": "ls -la"})


def firing(sessions: list[Session]) -> Action:
    """The same call proposed in one session after another."""
    turn = cycle([(session.state.dispatcher, PreToolCall(session=session.id, call=CALL)) for session in sessions])

    async def action(times: int) -> None:
        for dispatcher, event in islice(turn, times):
            outcome = await dispatcher.fire(event)
            assert outcome.decision is None, outcome

    return action


def resident_bytes() -> int:
    """How much memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def measure() -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "init.lua").write_text(INIT)
        (folder / "model.json").write_text('[{"text": "Done."}]')
        wish = SessionWish(workspace=folder, model=f"script:{folder / 'model.json'}")
        async with Home(folder, os.environ) as home:

            async def opened() -> Session:
                return await open_session(home, wish, Company(Listener(), Never()))

            alone = resident_bytes()
            sessions = [await opened()]
            first = resident_bytes() - alone
            sessions += [await opened() for _ in range(SESSIONS - 1)]
            each = (resident_bytes() - alone) / SESSIONS
            best = await fastest({"one": firing(sessions[:1]), "many": firing(sessions)})
            for session in sessions:
                await session.finish("closed")
    return [
        Line(f"one event, {SESSIONS:,} open sessions with Lua", "one of them", best["many"], best["one"], LIMIT),
        Line(f"memory of each of {SESSIONS:,} open sessions with Lua", "the first, with all that is loaded for it", each, first, unit="B"),
    ]
