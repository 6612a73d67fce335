"""A completion for a hook that asks for one (murmur.md 3.7)."""

from msgspec import Struct

from treblehook.agent.models.model import ModelFailed, ModelQuery, ModelSpecInvalid
from treblehook.agent.state import SessionState
from treblehook.contracts.murmur.services import OUTPUT_TOKENS, Completion, Inference, InferenceFailed, InferenceRequest

_USE = "hook"


class Asked(Struct, frozen=True):
    """One completion that a hook asked for; `decision` is `end_turn`, or `error` where it failed."""

    hook: str
    model: str
    decision: str
    input_tokens: int = 0
    output_tokens: int = 0


class HookInference(Inference):
    """Asks the model of the launch's session, once there is one."""

    def __init__(self) -> None:
        self._state: SessionState | None = None
        self._asked: list[Asked] = []

    def follow(self, state: SessionState) -> None:
        """Ask through this session."""
        self._state = state

    def take(self) -> list[Asked]:
        """The completions since the last time."""
        taken, self._asked = self._asked, []
        return taken

    async def complete(self, hook: str, request: InferenceRequest) -> Completion:
        """One completion without tools. Raises `InferenceFailed`."""
        state = self._state
        if state is None:
            raise InferenceFailed("there is no inference.driver.artifact yet: the session has not begun")
        spec = request.model or state.model.spec
        try:
            model = state.models(request.model) if request.model else state.model
            query = ModelQuery(request.system, request.messages, max_tokens=OUTPUT_TOKENS)
            reply = await state.ask(model, query, _USE, stream=False)
        except (ModelFailed, ModelSpecInvalid) as failure:
            self._asked.append(Asked(hook, spec, "error"))
            raise InferenceFailed(str(failure)) from failure
        self._asked.append(Asked(hook, spec, "end_turn", reply.usage.input, reply.usage.output))
        return Completion(reply.text, spec, reply.usage.input, reply.usage.output)
