"""The registrations of an extension become handlers of one session (vera.md 2.5, 3.11)."""

from collections.abc import Iterator
from typing import Any, Final

from treblehook.contracts.claude.events import event_of
from treblehook.contracts.vera.bind import command_of, runs_in
from treblehook.contracts.vera.command import asking
from treblehook.contracts.vera.extensions.activation import Registered
from treblehook.contracts.vera.extensions.extension import Extension
from treblehook.contracts.vera.phases import FUNCTION_PHASES, PHASES, Phase
from treblehook.engine import Handler, Mode, OnFailure, Origin, Tier
from treblehook.runtimes.process import ProcessRuntime

SESSION_START_SECONDS: Final = 60.0
"""Each hook has them for itself."""

OBSERVER_SECONDS: Final = 10.0
"""After that nobody waits for an observing function."""


def handlers(
    extension: Extension, *, runtime: ProcessRuntime, observers: ProcessRuntime, spawned: bool, awaited: bool, mode: Mode
) -> Iterator[Handler]:
    """The handlers in the order of registration. `runtime` and `observers` are as for the executables of config.json."""
    for hook in extension.registered:
        if not extension.has(hook):
            continue
        event = event_of(hook.phase) if hook.argv and hook.protocol == "claude" else None
        phase = FUNCTION_PHASES[hook.phase if event is None else event.phase]
        if not runs_in(phase, event, spawned=spawned, awaited=awaited):
            continue
        if hook.argv:
            command = command_of(hook.entry(), phase, event)
            ask = asking(command, observers if phase.observes else runtime)
            origin = Origin(hook.protocol, phase.name if event is None else event.name, hook.argv[0])
            yield _handler(extension, hook, phase, mode, ask=ask, origin=origin, timeout=command.seconds, keeps_time=True)
        else:
            origin = Origin("vera", phase.name, extension.manifest.entry)
            yield _handler(
                extension, hook, phase, mode, ask=extension.asking(hook, phase), origin=origin, timeout=_seconds(phase), cancellable=True
            )


def _handler(extension: Extension, hook: Registered, phase: Phase, mode: Mode, **particulars: Any) -> Handler:
    """What functions and executables have in common: the extension's name, and failures that are always open."""
    return Handler(
        phase.event,
        name=extension.id,
        tier=Tier.EXTENSION,
        lane=phase.lane,
        on_failure=OnFailure.OPEN,
        delivery=phase.delivery,
        mode=mode,
        when=lambda event: extension.has(hook),
        **particulars,
    )


def _seconds(phase: Phase) -> float | None:
    """A function's own limit; None where it is only its lane's."""
    if phase.observes:
        return OBSERVER_SECONDS
    return SESSION_START_SECONDS if phase is PHASES["session_start"] else None
