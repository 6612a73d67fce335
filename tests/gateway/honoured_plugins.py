"""Which answers our own code in OpenCode (1.18.33) and pi (0.73.1) puts into effect, written as in `honoured.py`.

What becomes of each in the agent is tested in `plugins/`, in the forms that the agents were seen to honour: OpenCode a throw and changes of
the very objects that it gave, pi what a handler returns and changes of `event.input`.
"""

from typing import Any

from tests.gateway.honoured import Shape, text, whole_input, words


def truth(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


_DENY: dict[str, Shape] = {"deny": words}
_ARGS: dict[str, Shape] = {"args": whole_input}
_PATCH: dict[str, Shape] = {"content": text, "is_error": truth}
_CONTEXT: dict[str, Shape] = {"context": words}

HONOURED: dict[str, dict[str, tuple[Shape, ...]]] = {
    "opencode": {
        # A throw fails the run; text in a part of the prompt's is read by the model.
        "chat.message": ({"block": words}, _CONTEXT),
        # A throw, and keys of `output.args`.
        "tool.execute.before": (_DENY, _ARGS),
        # A throw is an error; `output.output`.
        "tool.execute.after": (_PATCH,),
        # Held for the next prompt.
        "session.compacted": (_CONTEXT,),
    },
    "pi": {
        "session_start": (_CONTEXT,),
        # action:"handled"; a message.
        "input": ({"block": words}, _CONTEXT),
        # block:true; keys of `event.input`; a dialog of its own.
        "tool_call": (_DENY, _ARGS, {"ask": words}, {"ask": words, **_ARGS}),
        # A result in place of the command.
        "user_bash": (_DENY, {"ask": words}),
        "tool_result": (_PATCH,),
        "session_compact": (_CONTEXT,),
        # A further message, where pi has a user.
        "agent_end": ({"continue": words},),
    },
}
