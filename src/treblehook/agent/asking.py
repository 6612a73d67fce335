"""A side question: the session's last request once more, with a question at its end. The conversation gains nothing."""

from msgspec.structs import replace

from treblehook.agent.models.model import ModelFailed, Usage
from treblehook.agent.state import SessionState
from treblehook.host.asking import AskRefused, SideAnswer
from treblehook.host.foreign import foreign
from treblehook.lifecycle import Message


async def ask_aside(state: SessionState, question: str, max_tokens: int) -> SideAnswer:
    """Ask the model that was asked last, once; a running turn goes on meanwhile. Raises `AskRefused`.

    What it cost is written down as `ask`, also where the answer is then refused because the model called a tool: tools are
    offered, as in the request that is repeated, and never run.
    """
    if state.last_request is None:
        raise AskRefused("nothing has been sent to a model in this session yet")
    model, query = state.last_request
    messages = (*query.messages, Message("user", question))
    try:
        reply = await foreign(
            model.reply(replace(query, messages=messages, max_tokens=max_tokens), lambda delta: None),
            state.background,
        )
    except ModelFailed as failure:
        raise AskRefused(str(failure)) from failure
    if reply.usage != Usage():
        state.spend("ask", model, reply.usage)
    if reply.calls:
        raise AskRefused(f"the model asked for a tool, {reply.calls[0].name}, and tools are not run for a side question")
    if reply.stop == "refusal":
        raise AskRefused(reply.text or "the model refused to answer")
    provider, _, name = model.spec.partition(":")
    return SideAnswer(reply.text, name, provider)
