"""The hooks of settings files become the handlers of one session."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from treblehook.contracts.claude.settings.asking import Asking
from treblehook.contracts.claude.settings.entries import SettingsHook
from treblehook.contracts.claude.settings.events import EVENTS
from treblehook.contracts.claude.settings.held import HeldContext
from treblehook.contracts.claude.settings.matching import CommandRule
from treblehook.contracts.claude.settings.rounds import Aside, Round
from treblehook.contracts.claude.settings.verdicts import decider
from treblehook.contracts.claude.settings.wishes import CallWishes
from treblehook.engine import Handler, Mode, Origin, Tier
from treblehook.lifecycle import ToolFinished, ToolProposed

CONTRACT: Final = "claude-settings"
"""What these hooks are listed under: they are not of the `claude` protocol of the vera contract."""


class Surroundings(Struct, frozen=True):
    """What the hooks of a home stand on; `modes` is by hook name."""

    asking: Asking
    rule: CommandRule
    aside: Aside
    modes: Callable[[], Mapping[str, Mode]]


def bind_settings(hooks: Sequence[SettingsHook], wishes: CallWishes, around: Surroundings, *, spawned: bool) -> list[Handler]:
    """The handlers of a session, by event and then in the order of the files; `spawned` is true where another agent started it.

    `wishes` is where its permission finds what they say of the permission to run a tool."""
    held = HeldContext()

    def proposed(event: ToolProposed) -> None:
        held.forget(event)
        wishes.forget(event)

    modes = around.modes()
    handlers = []
    for name, event in EVENTS.items():
        here = [hook for hook in hooks if hook.event.name == name]
        if not here or not event.runs_in(spawned=spawned):
            continue
        asked = [hook for hook in here if modes.get(hook.name, Mode.ON) is not Mode.OFF]
        obeyed = [modes.get(hook.name, Mode.ON) is Mode.ON for hook in asked]
        together = Round(
            asked,
            obeyed,
            asking=around.asking,
            begins=proposed if name == "PreToolUse" else lambda event: None,
            decide=decider(name, held, wishes),
            # What these keep for later reaches nobody.
            unheeded=decider(name, HeldContext(), CallWishes()),
            rule=around.rule,
            aside=around.aside,
        )
        for hook in here:
            # One that is switched off is only listed.
            at = asked.index(hook) if hook in asked else -1
            handlers.append(_handler(hook, together, at, modes.get(hook.name, Mode.ON)))
    before = next((hook for hook in hooks if hook.event.name == "PreToolUse"), None)
    if before is not None:
        handlers.append(_delivery(before, held))
    return handlers


def _handler(hook: SettingsHook, together: Round, at: int, mode: Mode) -> Handler:
    return Handler(
        hook.event.event,
        partial(together.ask, at),
        name=hook.name,
        origin=Origin(CONTRACT, hook.event.name, hook.file, hook.line),
        tier=Tier.CONFIG,
        timeout=hook.seconds,
        keeps_time=True,
        mode=mode,
        when=partial(together.concerns, at),
    )


def _delivery(before: SettingsHook, held: HeldContext) -> Handler:
    """Puts what hooks said before a tool beside its result."""
    return Handler(
        ToolFinished,
        held.deliver,
        name="context of PreToolUse hooks",
        origin=Origin(CONTRACT, "PreToolUse", before.file, before.line),
        tier=Tier.CONFIG,
        when=held.has,
    )
