"""Opening the sessions of a home: each gets its handlers over the home's, its model, its tools and its file."""

import asyncio
import random
import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from treblehook.agent.context.settings import Precognition
from treblehook.agent.conversation import Conversation
from treblehook.agent.errors import SessionRefused
from treblehook.agent.listener import Listener
from treblehook.agent.models import open_model, warm
from treblehook.agent.models.model import Model, ModelSpecInvalid
from treblehook.agent.models.retry import reply_with_retries
from treblehook.agent.permissions import Approver, Permissions
from treblehook.agent.recorder import Recorder
from treblehook.agent.records import Record, held_of, messages_of, turns_of, waiting_of
from treblehook.agent.session import Session
from treblehook.agent.state import SessionState
from treblehook.agent.steps import TurnEnd
from treblehook.agent.stored import readable
from treblehook.agent.subagents import Subagents
from treblehook.agent.system_prompt import system_prompt
from treblehook.agent.transcript import Transcript, TranscriptFailed, find_session, new_session_id
from treblehook.contracts.vera.config import VeraConfig
from treblehook.engine import Background, Dispatcher, Journal, Mode, Registry
from treblehook.home.claude_settings import SessionSettings, no_settings
from treblehook.home.components.laying import bound_components
from treblehook.home.handlers import session_registry
from treblehook.home.home import Home
from treblehook.home.lua.machines import SessionLua
from treblehook.home.place import absolute
from treblehook.home.profile import PROFILES, MakeDispatcher, Outfit, Profile, SessionWish
from treblehook.host.calls import CallPath
from treblehook.host.facts import SessionFacts
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.host.tool import AnyTool

if TYPE_CHECKING:
    from treblehook.home.components.session import SessionComponents
    from treblehook.kiln.kilns import Kilns

DEEPEST_SUBAGENT = 3


class ProgramHooks(Protocol):
    """Hooks that a program brings along."""

    def bind(self, registry: Registry, *, modes: Mapping[str, Mode]) -> object:
        """Bind them to one session; `modes` is by the name of the hook. Raises `BindError` where one is not allowed."""


class Company(Struct):
    """Who a session deals with: who watches it, who answers its permission prompts, and a program's own hooks."""

    listener: Listener
    approver: Approver
    hooks: ProgramHooks | None = None


class _Kind(Struct, frozen=True):
    """What sets one session apart from the others of a home. `vera`, `claude` and `components` are set where it has those of its parent."""

    id: str
    workspace: Path
    model: str
    profile: Profile
    parent: Session | None = None
    vera: VeraConfig | None = None
    claude: SessionSettings | None = None
    components: "SessionComponents | None" = None
    kilns: tuple[str, ...] | None = None
    trust: bool = False
    awaited: bool = False
    depth: int = 0
    outfit: Outfit | None = None


async def open_session(home: Home, wish: SessionWish, company: Company) -> Session:
    """Open a session and ask its start hooks. Raises what `prepare_session` and `start_session` raise."""
    session = await prepare_session(home, wish, company)
    try:
        return await start_session(session, wish)
    except (asyncio.CancelledError, TranscriptFailed):
        # Its opening has been announced, so its end is too, and its file is free again.
        await session.finish("detached", TurnEnd("interrupted", reason="stopped while it was starting"))
        raise


async def prepare_session(home: Home, wish: SessionWish, company: Company, outfit: Outfit | None = None) -> Session:
    """A session that nobody has been told of yet; one with an `outfit` is not resumed.

    Raises `ConfigInvalid` (a hook entry over its limits, no model, no workspace), `ModelSpecInvalid`, and what opening its file
    raises.
    """
    home.reread()
    if wish.resume is None:
        return await _build(home, _fresh(home, wish, outfit), company, None)
    session_id = find_session(home.path / "sessions", wish.resume)
    transcript, stored = Transcript.resume(_file(home, session_id))
    records, damage = readable(stored, str(transcript.path))
    home.problems.extend((*transcript.damage, *damage))
    try:
        return await _build(home, _resumed(home, wish, session_id, records), company, (transcript, records))
    except BaseException:
        transcript.close()
        raise


async def start_session(session: Session, wish: SessionWish) -> Session:
    """Announce a prepared session and ask its start hooks. Raises `SessionRefused`, after the session has been ended."""
    refusal = await session.start("start" if wish.resume is None else "resume")
    if refusal is not None:
        await session.finish("refused", TurnEnd("refused", reason=refusal))
        raise SessionRefused(session.id, refusal)
    return session


def _file(home: Home, session_id: str) -> Path:
    return home.path / "sessions" / f"{session_id}.jsonl"


def _fresh(home: Home, wish: SessionWish, outfit: Outfit | None) -> _Kind:
    return _Kind(
        new_session_id() if outfit is None else outfit.id,
        _workspace(wish.workspace or Path(".")),
        _model_spec(home, wish.model),
        wish.profile or "default",
        kilns=wish.kilns,
        trust=wish.trust,
        outfit=outfit,
    )


def _resumed(home: Home, wish: SessionWish, session_id: str, records: Sequence[Record]) -> _Kind:
    """The session as it was left; workspace and model may be given anew, the profile stays unless a narrower one is asked for."""
    left = next((record for record in reversed(records) if record["type"] == "session"), {})
    workspace = wish.workspace or Path(left.get("workspace") or ".")
    model = _model_spec(home, wish.model or left.get("model"))
    profile = max(wish.profile or "default", left.get("profile", "default"), key=PROFILES.index)
    kilns = left.get("kilns") if wish.kilns is None else wish.kilns
    return _Kind(session_id, _workspace(workspace), model, profile, kilns=None if kilns is None else tuple(kilns), trust=wish.trust)


def _workspace(path: Path) -> Path:
    found = absolute(path.expanduser(), "--workspace").resolve()
    if not found.is_dir():
        raise ConfigInvalid([Problem(str(found), "", "this workspace is not a folder", "name an existing one with --workspace")])
    return found


def _model_spec(home: Home, wished: str | None) -> str:
    spec = wished or home.settings.model.default
    if not spec:
        remedy = 'pass --model SPEC, or set it: [model] default = "anthropic:NAME"'
        raise ConfigInvalid([Problem(str(home.path / "config.toml"), "model.default", "no model is named", remedy)])
    return spec


async def _build(home: Home, kind: _Kind, company: Company, resumed: tuple[Transcript, Sequence[Record]] | None) -> Session:
    """One session with all of its parts; nothing has been asked or sent yet."""
    facts = SessionFacts(kind.id, str(kind.workspace), spawned=kind.parent is not None)
    model = _first_model(home, kind.model)
    warm(kind.model)
    spawned, awaited = kind.parent is not None, kind.awaited
    config = kind.vera or home.vera()
    claude = _claude(home, kind)
    gates_only = kind.profile != "default"
    registry = await session_registry(home, config, spawned=spawned, awaited=awaited, gates_only=gates_only, claude=claude)
    outfit = kind.outfit
    components = await _components(home, kind, registry)
    own = components if kind.parent is None else None
    if company.hooks is not None:
        company.hooks.bind(registry, modes=home.settings.modes)
    machine = None
    if kind.profile == "default":
        # The plugins come before the notes, whose changes they are told.
        machine = home.lua.session_machine(registry, SessionLua(kind.id, kind.workspace, kind.trust))
    notes = await home.notes()
    kilns = _kilns(home, kind)
    if outfit is not None:
        tools = dict(outfit.tools)
    else:
        tools = {} if kind.profile == "prompt-only" else await _tools(home, notes, kilns, plugins=kind.profile == "default")
    transcript, records = resumed or (Transcript.create(_file(home, kind.id)), ())
    recorder = Recorder(kind.id, transcript, company.listener)
    journal = Journal()
    journal.watchers = [recorder, home.log]
    background = Background()
    make_dispatcher: MakeDispatcher = Dispatcher if own is None else own.dispatcher
    if outfit is not None:
        make_dispatcher = outfit.dispatcher
    dispatcher = make_dispatcher(registry, background=background, journal=journal)
    children = Subagents(_Children(home, replace(kind, vera=config, claude=claude, components=components), company))
    if outfit is None and kind.depth < DEEPEST_SUBAGENT and tools:
        tools[children.spec.name] = children
    rules = Permissions(home.settings.permissions, company.approver, kind.workspace, home.protection)
    permission = claude.permission(rules if outfit is None else outfit.permission)
    results = home.path / "sessions" / kind.id / "results" if outfit is None else outfit.results
    calls = CallPath(dispatcher, facts, tools, permission, recorder, results, home.isolation)
    specs = {name: tool.spec for name, tool in tools.items()}
    state = SessionState(
        facts=facts,
        dispatcher=dispatcher,
        background=background,
        conversation=Conversation(messages_of(records), _message_id),
        recorder=recorder,
        calls=calls,
        tools=specs,
        model=model,
        models=lambda spec: _open_model(home, spec),
        retrying=partial(reply_with_retries, sleep=asyncio.sleep, random=random.random),
        system=system_prompt(str(kind.workspace), specs.values()),
        window=home.settings.model.context_window,
        effort=home.settings.model.effort or "",
        parent=kind.parent.id if kind.parent is not None else None,
        profile=kind.profile,
        turns=turns_of(records),
        held=held_of(records),
        notes=notes,
        kilns=kilns,
        precognition=_precognition(home),
        entering=[] if machine is None else [machine.load],
        leaving=[partial(_left, home, kind.id)] if machine is None else [machine.close, partial(_left, home, kind.id)],
    )
    if outfit is not None:
        journal.watchers.extend(outfit.watchers)
        _dress(state, outfit)
    if components is not None:
        journal.watchers.extend(components.watchers)
    if own is not None:
        own.follow(state)
        state.leaving.append(lambda: own.close(state.gave_up))
    for text, when in waiting_of(records):
        state.inbox.send(text, when)
    session = Session(state, children)
    children.belong_to(session)
    home.sessions.add(session)
    return session


def _claude(home: Home, kind: _Kind) -> SessionSettings:
    """The hooks of Claude Code's settings; a subagent has those of its parent, whatever the files say by now."""
    if kind.claude is not None:
        return kind.claude.for_subagent()
    return home.claude.session(kind.workspace, trust=kind.trust) if kind.profile == "default" else no_settings()


async def _components(home: Home, kind: _Kind, registry: Registry) -> "SessionComponents | None":
    """The home's components, started for a session, shared with its subagents, and bound. Raises `ConfigInvalid`."""
    if kind.components is not None:
        kind.components.bind(registry, home.settings.modes, spawned=True)
        return kind.components
    surroundings = None if kind.outfit is None else kind.outfit.surroundings
    components = await bound_components(home, registry, kind.id, kind.workspace, surroundings=surroundings)
    if components is not None:
        await components.open(home.settings.file)
    return components


def _dress(state: SessionState, outfit: Outfit) -> None:
    """Give a session what its host brings."""
    opened = state.models
    state.model = outfit.model(state.model)
    state.models = lambda spec: outfit.model(opened(spec))
    state.system = outfit.system
    state.window = outfit.window
    state.policy = outfit.policy
    state.keeper = outfit.keeper
    state.calls.undeclared = outfit.undeclared


def _kilns(home: Home, kind: _Kind) -> tuple[str, ...]:
    """The kilns of a session. Raises `ConfigInvalid` for one that the home does not have."""
    there = tuple(home.settings.kilns)
    unknown = [name for name in kind.kilns or () if name not in there]
    if unknown:
        known = f"there are: {', '.join(there)}" if there else "there is none"
        raise ConfigInvalid([Problem(str(home.settings.file), "kilns", f"no kiln is named {', '.join(unknown)}", known)])
    return there if kind.kilns is None else kind.kilns


async def _tools(home: Home, notes: "Kilns | None", kilns: tuple[str, ...], *, plugins: bool) -> dict[str, AnyTool]:
    """What a session is offered, with `plugins` theirs too: a tool of one does not take the place of one that is there without it."""
    tools = dict(await home.tools())
    if notes is not None and kilns:
        # Most homes have no notes.
        from treblehook.kiln.tools import builtin_note_tools

        tools |= {tool.spec.name: tool for tool in builtin_note_tools(notes, kilns)}
    for tool in home.lua.tools() if plugins else ():
        if tool.spec.name in tools:
            what = f"plugin {tool.plugin}: its tool {tool.spec.name} is not used, since there is one of that name"
            home.problems.append(Problem(str(home.path), "", what, level="warning"))
        tools.setdefault(tool.spec.name, tool)
    return tools


def _precognition(home: Home) -> Precognition:
    """As it is set; off where nothing can tell what a text means (crucible.md 9.1)."""
    wished = home.settings.precognition
    return wished if all(map(find_spec, ("numpy", "wordllama"))) else replace(wished, enabled=False)


async def _left(home: Home, session: str) -> None:
    """The session is over: nothing is isolated for it any more."""
    home.isolation.end_session(session)


class _Children:
    """Opens subagents of one session: in its workspace, with its model, its hooks, its profile and its company."""

    def __init__(self, home: Home, kind: _Kind, company: Company) -> None:
        self._home = home
        self._kind = kind
        self._company = company

    async def __call__(self, parent: Session, *, awaited: bool) -> Session:
        # What the workspace brings is trusted as its parent found it, and not anew.
        own = replace(self._kind, id=new_session_id(), model=parent.state.model.spec, parent=parent, trust=False)
        kind = replace(own, awaited=awaited, depth=self._kind.depth + 1)
        return await _build(self._home, kind, self._company, None)


def _first_model(home: Home, spec: str) -> Model:
    """The model that a session begins with; one that the home's default names wrongly is told with its place."""
    try:
        return _open_model(home, spec)
    except ModelSpecInvalid as invalid:
        if spec != home.settings.model.default:
            raise
        raise ConfigInvalid([Problem(str(home.path / "config.toml"), "model.default", str(invalid))]) from invalid


def _open_model(home: Home, spec: str) -> Model:
    return open_model(spec, environ=home.environ, window=home.settings.model.context_window)


def _message_id() -> str:
    return f"msg_{secrets.token_hex(12)}"
