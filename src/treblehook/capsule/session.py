"""The agent's session, fitted out for a capsule."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from treblehook.agent.listener import Listener
from treblehook.agent.models.model import Model
from treblehook.agent.permissions import Never, Permissions
from treblehook.agent.policy import Policy
from treblehook.agent.session import Session
from treblehook.capsule.counted_model import CountedModel
from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.capsule.tasks.keeper import CapsuleTasks
from treblehook.capsule.tools.offered import undeclared
from treblehook.capsule.tools.permission import GrantedByManifest
from treblehook.capsule.trace.dispatcher import WitnessedDispatcher
from treblehook.capsule.trace.witness import Witness
from treblehook.capsule.workdir import Workdir
from treblehook.contracts.murmur.hooks import MurmurHooks
from treblehook.engine import Mode, Registry
from treblehook.home.home import Home
from treblehook.home.profile import Outfit, SessionWish, Surroundings
from treblehook.home.sessions import Company, prepare_session
from treblehook.host.tokens import TokenCounter
from treblehook.host.tool import AnyTool
from treblehook.lifecycle import Stage


class CapsuleHooks:
    """The hooks of a capsule, as a session binds them; at staging they have been asked already."""

    def __init__(self, hooks: MurmurHooks) -> None:
        self._hooks = hooks

    def bind(self, registry: Registry, *, modes: Mapping[str, Mode]) -> None:
        """Bind them behind those of the home. A capsule's hooks have no modes: its manifest alone says what it runs."""
        for handler in self._hooks.handlers():
            if handler.event is not Stage:
                registry.add(handler)


def policy_of(manifest: CapsuleManifest) -> Policy:
    """The contract's rules for turns and tasks (murmur.md 6)."""
    return Policy(
        compact_at=manifest.inference.compaction.threshold,
        compact_after=0.0,
        compact_every_reply=True,
        summarises=False,
        max_requests=manifest.inference.max_turns,
        max_reopens=manifest.lifecycle.max_task_reopens,
        reopens_failed=True,
        seed_budget=manifest.context.seed_budget,
        seeds_first=True,
        seed_margin=manifest.context.seed_overflow_margin,
        final_artifacts=True,
    )


async def prepare(
    home: Home,
    manifest: CapsuleManifest,
    session_id: str,
    model: str,
    workdir: Workdir,
    tools: Mapping[str, AnyTool],
    system: str,
    hooks: MurmurHooks,
    witness: Witness,
    keeper: CapsuleTasks,
    tokens: TokenCounter,
    listener: Listener,
    surroundings: Surroundings,
) -> Session:
    """A session that nobody has been told of yet. Raises what `prepare_session` raises."""
    rules = Permissions(home.settings.permissions, Never(), workdir.accessible, home.protection.granting(workdir.accessible))
    window = manifest.context.max_tokens

    def counted(opened: Model) -> Model:
        return CountedModel(opened, tokens.count, window)

    outfit = Outfit(
        id=session_id,
        results=workdir.out / "calls",
        tools=tools,
        permission=GrantedByManifest(rules, manifest.shell_allow),
        system=system,
        window=window,
        policy=policy_of(manifest),
        keeper=keeper,
        dispatcher=partial(WitnessedDispatcher, witness),
        watchers=(hooks.watcher,),
        model=counted,
        undeclared=lambda call: undeclared(call, tools),
        surroundings=surroundings,
    )
    wish = SessionWish(workspace=Path(workdir.accessible), model=model, kilns=())
    return await prepare_session(home, wish, Company(listener, Never(), CapsuleHooks(hooks)), outfit)
