"""One extension that is active."""

from treblehook.contracts.vera.extensions.activation import Registered
from treblehook.contracts.vera.extensions.function_answers import function_decider
from treblehook.contracts.vera.extensions.manifest import Manifest
from treblehook.contracts.vera.json_text import NotJson, encoded
from treblehook.contracts.vera.payloads import PAYLOADS
from treblehook.contracts.vera.phases import Phase
from treblehook.engine import Answer, HookFailed, HookNotStarted
from treblehook.engine.handler import Ask
from treblehook.lifecycle import Event
from treblehook.runtimes.modules import AnyModule, CallFailed, ModuleEnded, NotRunning


class Extension:
    """What an extension registered, and the module that it runs in; an extension of executables alone may have none.

    `ready` is false while its module is being set up again.
    """

    def __init__(self, manifest: Manifest, registered: tuple[Registered, ...], module: AnyModule | None = None) -> None:
        self.manifest = manifest
        self.registered = registered
        self.module = module
        self.ready = True
        self._removed: set[int] = set()

    @property
    def id(self) -> str:
        """The id by which users know its hooks."""
        return self.manifest.id

    def remove(self, number: int) -> None:
        """A disposer was called: this registration is not asked any more, in no session."""
        self._removed.add(number)

    def has(self, hook: Registered) -> bool:
        """Whether the registration still stands."""
        return hook.number not in self._removed

    def asking(self, hook: Registered, phase: Phase) -> Ask:
        """The function that asks the extension's function about an event. Raises HookNotStarted and HookFailed."""
        payload, decide = PAYLOADS[phase.name], function_decider(phase.name)

        async def ask(event: Event) -> Answer:
            try:
                argument = b'{"hook":%d,"payload":%b}' % (hook.number, encoded(payload(event)))
            except NotJson as error:
                raise HookNotStarted(f"was not asked: the event cannot be written as JSON: {error}") from error
            value = (await self._fire(argument)).decode("utf-8", "replace")
            try:
                return Answer(decide(value), raw=value)
            except HookFailed as problem:
                raise HookFailed(problem.message, raw=value) from problem

        return ask

    async def _fire(self, argument: bytes) -> bytes:
        if self.module is None or not self.ready:
            raise HookNotStarted("was not asked: its extension is being started again")
        try:
            return await self.module.call("fire", argument)
        except NotRunning as error:
            raise HookNotStarted(f"was not asked: {error.why}") from error
        except ModuleEnded as error:
            raise HookFailed(f"ended while it was asked: {error.why}") from error
        except CallFailed as error:
            raise HookFailed(error.why) from error
