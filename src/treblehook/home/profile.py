"""How a session is to be opened: what a user says on the command line, or a program in its call, and what a host of its own brings."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol

from msgspec import Struct

from treblehook.agent.models.model import Model
from treblehook.agent.policy import Policy, TaskKeeper
from treblehook.engine import Background, Dispatcher, Journal, Registry
from treblehook.engine.journal import Watcher
from treblehook.host.permission import Permission
from treblehook.host.tool import AnyTool
from treblehook.lifecycle import ToolCall

if TYPE_CHECKING:
    # They load the WebAssembly library.
    from treblehook.contracts.murmur.faults import FaultSink
    from treblehook.contracts.murmur.launch import Launch
    from treblehook.contracts.murmur.services import MurmurServices

Profile = Literal["default", "bare", "prompt-only"]
"""`bare` and `prompt-only` run no hooks but gates, and neither do the session's subagents; the choice is kept with the session."""

PROFILES: Final[tuple[Profile, ...]] = ("default", "bare", "prompt-only")
"""From the widest to the narrowest."""


class SessionWish(Struct, frozen=True):
    """What is asked for; None takes what the home, or the resumed session, says.

    `resume` is a session id or an unambiguous beginning of one. `prompt-only` also offers no tools. `kilns` are the names of those
    whose notes the session has, None for all. `trust` trusts the workspace's code as it is now.
    """

    workspace: Path | None = None
    model: str | None = None
    resume: str | None = None
    profile: Profile | None = None
    kilns: tuple[str, ...] | None = None
    trust: bool = False


class MakeDispatcher(Protocol):
    """Makes the dispatcher of a session."""

    def __call__(self, registry: Registry, *, background: Background, journal: Journal) -> Dispatcher:
        """The dispatcher."""


class Surroundings(Struct, frozen=True):
    """What components of a session are told, may ask for, and where their faults go."""

    launch: "Launch"
    services: "MurmurServices"
    sink: "FaultSink"


class Outfit(Struct, frozen=True):
    """What a host that packages an agent gives its session in the place of what the home would: the session's `id`, its tools and who
    may call them, its prompt, window and rules. `model` makes of an opened model the one that is asked, `watchers` hear the journal,
    a call of a tool that is not there is answered by `undeclared`, and big results are kept in the folder `results`. `surroundings`
    are those of the home's own components."""

    id: str
    results: Path
    tools: Mapping[str, AnyTool]
    permission: Permission
    system: str
    window: int | None
    policy: Policy
    keeper: TaskKeeper
    dispatcher: MakeDispatcher
    watchers: Sequence[Watcher]
    model: Callable[[Model], Model]
    undeclared: Callable[[ToolCall], str]
    surroundings: Surroundings
