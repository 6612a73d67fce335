"""What a hook call asks of its session, and what the session's word means as an answer."""

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
from treblehook.lifecycle import Allow, Deny


async def asked(live: Live, arrived: Arrived, sessions: OutsideSessions) -> Answer:
    """The answer to a hook call. Raises what the session raises."""
    agent, what = live.session.agent, arrived.what
    match what:
        case Starting():
            return await _starting(live, what, arrived.model)
        case PromptGiven():
            return await _prompted(live, what, arrived.model)
        case CallComing():
            return await _coming(live, what)
        case PermissionAsked():
            decision = await agent.permission(what.call)
            if isinstance(decision, Deny):
                return Refused(decision.reason)
            return Granted() if isinstance(decision, Allow) else NO_OPINION
        case CallDone():
            outcome = await agent.finished(what.call, what.output, duration_ms=what.duration_ms)
            changed = outcome.content != what.output.content or outcome.is_error != what.output.is_error
            return Patched(outcome.content, outcome.is_error) if changed else NO_OPINION
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


async def _starting(live: Live, what: Starting, model: str) -> Answer:
    """The session itself has been asked about when it was opened; a later start is told as what it is."""
    agent = live.session.agent
    context, live.pending = live.pending, []
    if what.reason != "start" and agent.refusal is None:
        started = await agent.start(what.reason, model)
        context.append(started.context)
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


async def _coming(live: Live, what: CallComing) -> Answer:
    judged = await live.session.agent.judge(what.call)
    if judged.refusal is not None:
        return Refused(judged.refusal, judged.replaced)
    rewritten = judged.call.input if judged.call.input != what.call.input else None
    if judged.ask is not None:
        return AskUser(judged.ask, rewritten)
    return NO_OPINION if rewritten is None else RunRewritten(rewritten)


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
