"""What stands between an agent's wire format and the engine: a hook call once it is decoded, and an answer before it is encoded."""

from typing import Any, Final, Literal

from msgspec import Struct

from treblehook.host.tool import ToolOutput
from treblehook.lifecycle import ToolCall


class Starting(Struct, frozen=True, tag=True):
    """Row 2: a conversation starts, is resumed, or has been compacted."""

    reason: Literal["start", "resume", "compacted"] = "start"


class PromptGiven(Struct, frozen=True, tag=True):
    """Row 3: the user says something. What an agent tells itself in the user's place is `Other`."""

    prompt: str


class CallComing(Struct, frozen=True, tag=True):
    """Rows 10, 11 and 15: a tool is about to run. `call` has our names; `tool` and `input` are the agent's own.

    One call of an agent may be several of ours (a patch of many files): `more` are the others. Each is judged, and one that is refused
    refuses all.
    """

    call: ToolCall
    tool: str
    input: dict[str, Any]
    more: tuple[ToolCall, ...] = ()


class PermissionAsked(Struct, frozen=True, tag=True):
    """Row 12: the agent is about to ask its user. With `more` calls in one, it is granted where each is, and denied where one is."""

    call: ToolCall
    tool: str
    more: tuple[ToolCall, ...] = ()


class CallDone(Struct, frozen=True, tag=True):
    """Row 16: a tool has run. `response` is the result in the agent's own shape, `output` its text as the model gets it, which is that of
    `more` calls too."""

    call: ToolCall
    tool: str
    output: ToolOutput
    response: Any = None
    duration_ms: float = 0.0
    more: tuple[ToolCall, ...] = ()


class Compacting(Struct, frozen=True, tag=True):
    """Row 9."""

    reason: Literal["manual", "automatic"] = "automatic"


class Stopping(Struct, frozen=True, tag=True):
    """Rows 18 and 19: the final reply has been made. `again` is true where a hook has sent the model back already."""

    reply: str = ""
    again: bool = False


class SubagentDone(Struct, frozen=True, tag=True):
    """Rows 18 to 20 of a subagent, whose id is in `Arrived.subagent`."""

    reply: str = ""
    again: bool = False


class Ending(Struct, frozen=True, tag=True):
    """Row 21. The agent does not wait long, and cannot be told anything."""


class Other(Struct, frozen=True, tag=True):
    """A hook call that has no row here; it is answered with no opinion."""


What = Starting | PromptGiven | CallComing | PermissionAsked | CallDone | Compacting | Stopping | SubagentDone | Ending | Other


class Arrived(Struct, frozen=True):
    """A hook call, decoded. `event` is the agent's own name; `session` its id of the session, `subagent` that of the subagent in it whose
    call this is, "" for none."""

    event: str
    what: What
    session: str
    workspace: str
    subagent: str = ""
    model: str = ""


class NoOpinion(Struct, frozen=True):
    """No hook objects and none has anything to say."""


class AddText(Struct, frozen=True):
    """Context for the model, at `Starting` and `PromptGiven`."""

    text: str


class Refused(Struct, frozen=True):
    """At `Starting`: the session is refused (its calls will be too). At `PromptGiven`: the model does not get the prompt. At `CallComing`
    and `PermissionAsked`: the call does not run. Everywhere `reason` is told to whoever the agent tells. `replaced` is true at `CallComing`
    where `reason` is the result that a hook gave in the tool's place."""

    reason: str
    replaced: bool = False


class AskUser(Struct, frozen=True):
    """At `CallComing`: the agent's user decides, `reason` says why; `input` is the whole input, under our names, where hooks have rewritten
    it. The codec gives it the agent's own names again."""

    reason: str
    input: dict[str, Any] | None = None


class RunRewritten(Struct, frozen=True):
    """At `CallComing`: the call runs with `input`, which is the whole of it under our names. The codec gives it the agent's own again."""

    input: dict[str, Any]


class Granted(Struct, frozen=True):
    """At `PermissionAsked`: the call runs without asking."""


class Patched(Struct, frozen=True):
    """At `CallDone`: the model gets `content` in the place of what the tool said."""

    content: str
    is_error: bool


class GoOn(Struct, frozen=True):
    """At `Stopping` and `SubagentDone`: the model is sent back with `text`."""

    text: str


Answer = NoOpinion | AddText | Refused | AskUser | RunRewritten | Granted | Patched | GoOn

NO_OPINION: Final = NoOpinion()
