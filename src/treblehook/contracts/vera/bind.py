"""The executables of a config.json become the handlers of one session."""

from collections.abc import Mapping

from treblehook.contracts.claude import answers as claude_answers
from treblehook.contracts.claude import payloads as claude_payloads
from treblehook.contracts.claude.events import ClaudeEvent, event_of
from treblehook.contracts.vera import answers, payloads
from treblehook.contracts.vera.command import Command, asking
from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.hook_entries import HookEntry
from treblehook.contracts.vera.limits import over_limits
from treblehook.contracts.vera.phases import PHASES, Phase
from treblehook.engine import Handler, Mode, Origin, Tier
from treblehook.host.problems import ConfigInvalid
from treblehook.runtimes.process import ProcessRuntime


def bind(
    config: VeraConfig,
    *,
    runtime: ProcessRuntime,
    observers: ProcessRuntime,
    spawned: bool,
    awaited: bool,
    modes: Mapping[str, Mode],
) -> list[Handler]:
    """The handlers of a session, in list order, which is the order in which they must be registered.

    `spawned` is true in a session that another agent started, `awaited` too if that agent waits for it. `modes` is by hook
    name. `observers` runs the hooks that nothing waits for: slow ones must not take the places of those that hold up a turn.
    Raises ConfigInvalid where any entry is over a limit (vera.md 2.3): the session must not start without it.
    """
    problems = over_limits(config)
    if problems:
        raise ConfigInvalid(problems)
    handlers = []
    for entry in config.hooks:
        event = event_of(entry.phase) if entry.protocol == "claude" else None
        phase = PHASES[entry.phase if event is None else event.phase]
        if runs_in(phase, event, spawned=spawned, awaited=awaited):
            place = observers if phase.observes else runtime
            handlers.append(_handler(entry, phase, event, place, modes.get(entry.name, Mode.ON)))
    return handlers


def runs_in(phase: Phase, event: ClaudeEvent | None, *, spawned: bool, awaited: bool) -> bool:
    """Whether a hook is bound in a session of this kind; `event` is None where it does not speak the claude protocol."""
    if awaited and phase.name in ("pre_compact", "session_end", "turn_finished"):
        # An awaited subagent lives inside its parent's turn and is no session of its own (vera.md 3.6, 3.7).
        return False
    return event is None or event.runs_in(spawned=spawned)


def command_of(entry: HookEntry, phase: Phase, event: ClaudeEvent | None) -> Command:
    """How the executable of `entry` is run and spoken to."""
    return Command(
        argv=(entry.executable, *entry.argv[1:]),
        seconds=entry.timeout_ms / 1000,
        stdout_bytes=phase.stdout_bytes,
        payload=payloads.PAYLOADS[phase.name] if event is None else claude_payloads.PAYLOADS[event.name],
        decide=answers.decider(phase.name) if event is None else claude_answers.decider(event.name),
    )


def _handler(entry: HookEntry, phase: Phase, event: ClaudeEvent | None, runtime: ProcessRuntime, mode: Mode) -> Handler:
    return Handler(
        phase.event,
        asking(command_of(entry, phase, event), runtime),
        name=entry.name,
        origin=Origin(entry.protocol, phase.name if event is None else event.name, entry.executable),
        tier=Tier.CONFIG,
        timeout=entry.timeout_ms / 1000,
        keeps_time=True,
        lane=phase.lane,
        on_failure=phase.on_failure,
        delivery=phase.delivery,
        mode=mode,
    )
