"""Opening a session for an agent that runs elsewhere: the home's hooks, a session file, and no model, tools or turns of ours."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from treblehook.agent.listener import Listener
from treblehook.agent.permissions import Never, Permissions
from treblehook.agent.recorder import Recorder
from treblehook.agent.transcript import SessionBusy, Transcript, TranscriptFailed, new_session_id
from treblehook.engine import Background, Dispatcher, Handler, Journal, Registry
from treblehook.home.components.laying import bound_components
from treblehook.home.handlers import session_registry
from treblehook.home.home import Home
from treblehook.home.lua.machines import SessionLua, SessionMachine
from treblehook.host.calls import CallPath
from treblehook.host.facts import SessionFacts
from treblehook.host.outside import OutsideAgent, OutsideTools
from treblehook.host.problems import ConfigInvalid
from treblehook.host.tools import builtin_tools

if TYPE_CHECKING:
    # It loads the WebAssembly library.
    from treblehook.home.components.session import SessionComponents


class OutsideWish(Struct, frozen=True):
    """A session of `agent` in `workspace`. `known_as` is our id where it has been met before; `spawned` is true for a subagent, whose
    parent has our id `parent`. Of Claude Code's settings the agent itself runs the hooks of the sources in `own_settings`; the others may
    take `settings_seconds` at most, since an agent waits for all hooks of a call together."""

    agent: str
    workspace: Path
    model: str = ""
    known_as: str | None = None
    parent: str | None = None
    own_settings: frozenset[str] = frozenset()
    settings_seconds: float | None = None

    @property
    def spawned(self) -> bool:
        """Whether another session has started this one."""
        return self.parent is not None


class OutsideSession:
    """An open session of an agent elsewhere. `agent` is what its events are told to; `handlers` are those that may be asked."""

    def __init__(
        self,
        home: Home,
        agent: OutsideAgent,
        parts: "_Parts",
    ) -> None:
        self.id = agent.facts.session
        self.agent = agent
        self._home = home
        self._parts = parts

    def handlers(self) -> list[Handler]:
        """Those that are bound now."""
        return self._parts.registry.handlers()

    def prompted(self, text: str) -> None:
        """Write a prompt into the session file. Raises `TranscriptFailed`."""
        self._parts.recorder.write("prompt", text=text)

    def ended(self, status: str, reason: str = "") -> None:
        """Write down how the session ended. Raises `TranscriptFailed`."""
        self._parts.recorder.write("end", status=status, turns=self.agent.turns, reason=reason)

    async def close(self) -> None:
        """Let go of everything that the session had; its end has been told. Raises `TranscriptFailed` where its file cannot be synced."""
        parts = self._parts
        gave_up = await parts.background.drain()
        if parts.components is not None:
            await parts.components.close(gave_up)
        if parts.machine is not None:
            await parts.machine.close()
        self._home.isolation.end_session(self.id)
        self._home.sessions.closed_elsewhere(self.id)
        parts.recorder.close()


class _Parts(Struct):
    registry: Registry
    background: Background
    recorder: Recorder
    components: "SessionComponents | None"
    machine: SessionMachine | None


async def open_outside(home: Home, wish: OutsideWish, listener: Callable[[], Listener] = Listener) -> OutsideSession:
    """Open one; nobody has been asked yet. Raises `ConfigInvalid` where hooks do not load, since a hook that is left out would fail open,
    and `TranscriptFailed`."""
    home.reread()
    transcript, session_id = _file(home, wish.known_as)
    recorder = Recorder(session_id, transcript, listener())
    opened: SessionComponents | None = None
    try:
        facts = SessionFacts(session_id, str(wish.workspace), spawned=wish.spawned)
        claude = home.claude.session(wish.workspace, elsewhere=wish.own_settings, seconds=wish.settings_seconds)
        registry = await session_registry(home, spawned=wish.spawned, awaited=wish.spawned, claude=claude)
        components = await bound_components(home, registry, session_id, wish.workspace, spawned=wish.spawned)
        if components is not None:
            await components.open(home.settings.file)
            opened = components
        home.sessions.opened_elsewhere(session_id, wish.workspace)
        machine = home.lua.session_machine(registry, SessionLua(session_id, wish.workspace))
        journal = Journal()
        journal.watchers = [recorder, home.log, *(components.watchers if components is not None else ())]
        background = Background()
        make = Dispatcher if components is None else components.dispatcher
        dispatcher = make(registry, background=background, journal=journal)
        specs = {tool.spec.name: tool.spec for tool in builtin_tools(home.tool_processes)}
        permission = Permissions(home.settings.permissions, Never(), wish.workspace, home.protection)
        results = home.path / "sessions" / session_id / "results"
        calls = CallPath(dispatcher, facts, OutsideTools(specs), claude.permission(permission), recorder, results, home.isolation)
        reason = "start" if wish.known_as is None else "resume"
        recorder.write("session", id=session_id, parent=wish.parent, workspace=str(wish.workspace), model=wish.agent, reason=reason)
        await _load_lua(home, machine)
    except BaseException:
        home.sessions.closed_elsewhere(session_id)
        if opened is not None:
            await opened.close(())
        recorder.close()
        if session_id != wish.known_as:
            # There is no such session; each further call would leave another file.
            transcript.path.unlink(missing_ok=True)
        raise
    agent = OutsideAgent(dispatcher, facts, calls, tools=tuple(specs))
    return OutsideSession(home, agent, _Parts(registry, background, recorder, components, machine))


async def _load_lua(home: Home, machine: SessionMachine | None) -> None:
    """Raises `ConfigInvalid` where a file or a plugin does not load. Our own sessions go on without its hooks and say so (crucible.md 2.9);
    an agent's user would not learn that a guard is missing."""
    unloaded = [] if home.lua.plugins is None else await home.lua.plugins.mend()
    if machine is not None:
        unloaded += machine.load()
    if unloaded:
        if machine is not None:
            await machine.close()
        raise ConfigInvalid(unloaded)


def _file(home: Home, known_as: str | None) -> tuple[Transcript, str]:
    """The session's file, and its id: a new one where the file of a session that was met before is gone, or open in another process."""
    if known_as is not None:
        try:
            transcript, _ = Transcript.resume(home.path / "sessions" / f"{known_as}.jsonl")
        except (SessionBusy, TranscriptFailed):
            # What is recorded then stands in a file of its own.
            pass
        else:
            return transcript, known_as
    session_id = new_session_id()
    return Transcript.create(home.path / "sessions" / f"{session_id}.jsonl"), session_id
