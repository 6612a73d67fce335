"""The `treblehook` that a Python extension sees: what `vera` is in JavaScript, in snake case (vera.md 5.1).

Payloads and answers are dicts with the keys of the JSON protocol, `toolCall` and `isError` as they are: an executable, a JavaScript
function and a Python function answer the same, and one table describes them all.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from treblehook.contracts.vera.extensions.activation import Registered
from treblehook.contracts.vera.extensions.command_spec import command
from treblehook.contracts.vera.json_text import NotJson, encoded, parsed
from treblehook.runtimes.modules import RequestFailed
from treblehook.runtimes.python import ModuleHost

Payload = dict[str, Any]
HookFunction = Callable[[Payload], Any]
"""A function, sync or async, that is given its own copy of a payload and answers a dict."""

Disposer = Callable[[], None]
"""Takes one registration back; calling it again is fine."""


class CapabilityMissing(Exception):
    """`call` needs `capability`, which the manifest does not declare."""

    def __init__(self, call: str, capability: str) -> None:
        super().__init__(f'{call} needs the capability "{capability}", which the manifest does not declare')
        self.call = call
        self.capability = capability


class RegisteredTooLate(Exception):
    """`call` came when activation was over."""

    def __init__(self, call: str) -> None:
        super().__init__(f"{call}: hooks are registered while activate runs, and not after")
        self.call = call


class AskFailed(Exception):
    """A question to a session has no answer; the message says why."""


class Registration(Struct):
    """One call of a register function; `function` is None where an executable was registered."""

    hook: Registered
    function: HookFunction | None = None
    removed: bool = False


class Book(Struct):
    """What an extension has registered, and whether it still may. `undeclared` is the first capability that it used without declaring."""

    host: ModuleHost
    capabilities: tuple[str, ...]
    state: Literal["activating", "active", "closing"] = "activating"
    registrations: list[Registration] = field(default_factory=list)
    undeclared: CapabilityMissing | None = None

    def need(self, call: str, capability: str) -> None:
        """Raises CapabilityMissing, which also fails the activation where the extension catches it."""
        if capability not in self.capabilities:
            missing = CapabilityMissing(call, capability)
            self.undeclared = self.undeclared or missing
            raise missing

    def may_register(self, call: str, capability: str) -> None:
        """Raises RegisteredTooLate and CapabilityMissing."""
        if self.state != "activating":
            raise RegisteredTooLate(call)
        self.need(call, capability)

    def add(self, phase: str, function: HookFunction | None, spec: Mapping[str, Any] | None = None) -> Disposer:
        """Note a registration down."""
        made = Registration(Registered(len(self.registrations), phase, **(spec or {})), function)
        self.registrations.append(made)

        def dispose() -> None:
            if not made.removed:
                made.removed = True
                if self.state == "active":
                    self.host.tell("removed", b"%d" % made.hook.number)

        return dispose

    def standing(self) -> bytes:
        """The registrations that have not been taken back, as the JSON of a list of `Registered`."""
        return msgspec.json.encode([made.hook for made in self.registrations if not made.removed])

    def close(self) -> None:
        """The extension ends: nothing is registered any more."""
        self.state = "closing"
        for made in self.registrations:
            made.removed = True


class HookCalls:
    """`treblehook.hooks`. Each call needs the capability of its name in the manifest, such as `hooks.pre_tool_use`.

    All of them raise RegisteredTooLate and CapabilityMissing, and TypeError for what is no function.
    """

    def __init__(self, book: Book) -> None:
        self._book = book

    def register_pre_tool_use(self, function: HookFunction) -> Disposer:
        """Before a tool call: observe, mutate, block, replace."""
        return self._register("pre_tool_use", function)

    def register_post_tool_use(self, function: HookFunction) -> Disposer:
        """After a tool call: observe, mutate."""
        return self._register("post_tool_use", function)

    def register_session_start(self, function: HookFunction) -> Disposer:
        """A conversation starts, is resumed or has been compacted: observe, mutate."""
        return self._register("session_start", function)

    def register_pre_turn(self, function: HookFunction) -> Disposer:
        """Before a message reaches the model: observe, mutate, block."""
        return self._register("pre_turn", function)

    def register_turn_ending(self, function: HookFunction) -> Disposer:
        """A final reply: observe, continue."""
        return self._register("turn_ending", function)

    def register_turn_finished(self, function: HookFunction) -> Disposer:
        """A turn is over; what the function returns does not count, here and below."""
        return self._register("turn_finished", function)

    def register_pre_compact(self, function: HookFunction) -> Disposer:
        """A compaction starts."""
        return self._register("pre_compact", function)

    def register_session_end(self, function: HookFunction) -> Disposer:
        """A session closes."""
        return self._register("session_end", function)

    def register_subagent_finished(self, function: HookFunction) -> Disposer:
        """A subagent hands back its result."""
        return self._register("subagent_finished", function)

    def register_command(self, spec: Mapping[str, Any]) -> Disposer:
        """An executable: `phase`, `argv`, `protocol` and `timeoutMs` as in JavaScript. Raises TypeError for a bad one too."""
        self._book.may_register("register_command", "hooks.command")
        checked = command(spec)
        return self._book.add(checked.pop("phase"), None, checked)

    def _register(self, phase: str, function: HookFunction) -> Disposer:
        call = f"register_{phase}"
        self._book.may_register(call, f"hooks.{phase}")
        if not callable(function):
            raise TypeError(f"{call}: found {function!r:.60}; it must be a function")
        return self._book.add(phase, function)


class SessionCalls:
    """`treblehook.sessions`."""

    def __init__(self, book: Book) -> None:
        self._book = book

    async def ask(self, *, session_id: str, question: str, max_tokens: int | None = None) -> dict[str, str]:
        """Put a side question to a session (vera.md 5.7); answers `text`, `model` and `provider`.

        A sync function calls `asyncio.run(treblehook.sessions.ask(...))`. Raises AskFailed and CapabilityMissing.
        """
        self._book.need("sessions.ask", "sessions.ask")
        if self._book.state != "active":
            raise AskFailed(f"sessions.ask: the host {'is not ready yet' if self._book.state == 'activating' else 'is closing'}")
        request = {"sessionId": session_id, "question": question} | ({} if max_tokens is None else {"maxTokens": max_tokens})
        try:
            answer: dict[str, str] = parsed((await self._book.host.call("ask", encoded(request))).decode())
        except NotJson as error:
            raise AskFailed(f"sessions.ask: {error}") from error
        except RequestFailed as failed:
            raise AskFailed(str(failed)) from failed
        return answer


class Treblehook:
    """The argument of `activate`. `config` is the `config` of the extension's entry in config.json, a copy of its own."""

    def __init__(self, config: Any, book: Book) -> None:
        self.config = config
        self.hooks = HookCalls(book)
        self.sessions = SessionCalls(book)
