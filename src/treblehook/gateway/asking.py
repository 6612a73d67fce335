"""What a hook call asks of its session, and what the session's word means as an answer."""

from typing import Any

from msgspec.structs import replace

from treblehook.gateway.placing import placed, unplaced
from treblehook.gateway.sessions import Live, OutsideSessions
from treblehook.gateway.values import (
    NO_OPINION,
    AddText,
    Answer,
    Arrived,
    AskUser,
    CallComing,
    CallDone,
    Compacting,
    Ending,
    GoOn,
    Granted,
    Other,
    Patched,
    PermissionAsked,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
    SubagentDone,
)
from treblehook.lifecycle import Allow, Deny, ToolCall


async def asked(live: Live, arrived: Arrived, sessions: OutsideSessions) -> Answer:
    """The answer to a hook call. Raises what the session raises."""
    agent, what = live.session.agent, arrived.what
    match what:
        case Starting():
            return await _starting(live, what, arrived.model, sessions)
        case PromptGiven():
            return await _prompted(live, what, arrived.model)
        case CallComing():
            return await _coming(live, what, arrived.workspace)
        case PermissionAsked():
            return await _permitted(live, what, arrived.workspace)
        case CallDone():
            return await _done(live, what, arrived.workspace)
        case Compacting():
            await agent.compacting(what.reason)
        case Stopping():
            return _sent_back(await agent.stopping(what.reply, again=what.again))
        case SubagentDone():
            return await _subagent_done(live, what, sessions)
        case Ending():
            sessions.end(live)
        case Other():
            pass
    return NO_OPINION


async def _starting(live: Live, what: Starting, model: str, sessions: OutsideSessions) -> Answer:
    """The session itself has been asked about when it was opened; a later start is told as what it is."""
    agent = live.session.agent
    context, live.pending = live.pending, []
    if what.reason != "start" and agent.refusal is None:
        started = await agent.start(what.reason, model)
        context.append(started.context)
        if started.refusal is not None:
            sessions.refused(live, started.refusal)
    if agent.refusal is not None:
        return Refused(agent.refusal)
    text = "\n\n".join(filter(None, context))
    return AddText(text) if text else NO_OPINION


async def _prompted(live: Live, what: PromptGiven, model: str) -> Answer:
    live.session.prompted(what.prompt)
    said = await live.session.agent.prompt(what.prompt, model)
    if said.blocked is not None:
        return Refused(said.blocked)
    context, live.pending = live.pending, []
    text = "\n\n".join(filter(None, (*context, said.context)))
    return AddText(text) if text else NO_OPINION


async def _coming(live: Live, what: CallComing, folder: str) -> Answer:
    agent = live.session.agent
    ask: str | None = None
    rewritten: dict[str, Any] | None = None
    judged_calls: list[ToolCall] = []
    for call in map(live.unnamed.begun, (what.call, *what.more)):
        there = placed(call, folder, agent.facts.workspace)
        judged = await agent.judge(there)
        if judged.refusal is not None:
            return Refused(judged.refusal, judged.replaced)
        if judged.call.input != there.input:
            rewritten = unplaced(judged.call.input, call, folder)
        ask = ask if judged.ask is None else judged.ask
        judged_calls.append(judged.call)
    for call in judged_calls:
        live.unnamed.runs(call)
    if ask is not None:
        return AskUser(ask, rewritten)
    return NO_OPINION if rewritten is None else RunRewritten(rewritten)


async def _permitted(live: Live, what: PermissionAsked, folder: str) -> Answer:
    agent = live.session.agent
    granted = True
    for call in (what.call, *what.more):
        there = live.unnamed.met(placed(call, folder, agent.facts.workspace))
        decision = await agent.permission(there)
        if isinstance(decision, Deny):
            return Refused(decision.reason)
        granted = granted and isinstance(decision, Allow)
    return Granted() if granted else NO_OPINION


async def _done(live: Live, what: CallDone, folder: str) -> Answer:
    agent = live.session.agent
    output = what.output
    for call in (what.call, *what.more):
        there = live.unnamed.ended(placed(call, folder, agent.facts.workspace))
        outcome = await agent.finished(there, output, duration_ms=what.duration_ms)
        output = replace(output, content=outcome.content, is_error=outcome.is_error)
    changed = output.content != what.output.content or output.is_error != what.output.is_error
    return Patched(output.content, output.is_error) if changed else NO_OPINION


async def _subagent_done(live: Live, what: SubagentDone, sessions: OutsideSessions) -> Answer:
    agent = live.session.agent
    text = await agent.stopping(what.reply, again=what.again)
    if text is None:
        if live.parent is not None:
            await live.parent.session.agent.subagent_finished(live.session.id, what.reply)
        sessions.end(live)
    return _sent_back(text)


def _sent_back(text: str | None) -> Answer:
    return NO_OPINION if text is None else GoOn(text)
