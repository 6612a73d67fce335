"""One launch of a capsule: staged, its tasks taken, ended properly however that comes."""

import asyncio
import errno
import os
import shutil
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from treblehook.agent.listener import Listener
from treblehook.agent.session import EndReason
from treblehook.agent.steps import TurnEnd
from treblehook.agent.transcript import TranscriptFailed, new_session_id
from treblehook.capsule.manifest.opening import Opened
from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.capsule.session import prepare
from treblehook.capsule.staging.guide import guide
from treblehook.capsule.staging.stage import Staged, stage
from treblehook.capsule.staging.tool_manifests import read_texts, write_of_hook, write_own
from treblehook.capsule.tasks.keeper import CapsuleTasks
from treblehook.capsule.tasks.runner import Runner
from treblehook.capsule.tools.background import BackgroundCommands
from treblehook.capsule.tools.offered import offered_tools, own_names
from treblehook.capsule.trace.faults import Faults
from treblehook.capsule.trace.file import TraceFile
from treblehook.capsule.trace.witness import Witness
from treblehook.capsule.workdir import Workdir, workdir_of, write_private
from treblehook.contracts.murmur import launch as contract
from treblehook.contracts.murmur.errors import StagingFailed
from treblehook.contracts.murmur.hooks import MurmurHooks
from treblehook.contracts.murmur.payloads import LaunchFacts
from treblehook.contracts.murmur.services import MurmurServices
from treblehook.engine import Background, Dispatcher, Journal, Registry
from treblehook.home.components.desk import TaskDesk
from treblehook.home.components.inference import HookInference
from treblehook.home.components.record import ConversationRecord
from treblehook.home.components.spans import send_all_spans
from treblehook.home.home import Home
from treblehook.home.profile import Surroundings
from treblehook.host.opening import open_unknown
from treblehook.host.tokens import counter
from treblehook.lifecycle import Stage, WriteManifests
from treblehook.runtimes.wasm import Compiling

DRAIN_SECONDS = 15.0
_FORWARDED = ("MURMUR_FORMATION_ID", "MURMUR_CASE_ID", "MURMUR_DATASET_ID", "MURMUR_OTEL_ENDPOINT", "MURMUR_EVAL_CONFIG")


class LaunchWish(Struct, frozen=True):
    """What a launch is to do: its tasks in order, the model's SPEC, and the folder to work in, None for one of its own."""

    tasks: tuple[str, ...]
    model: str
    workdir: Path | None = None


class LaunchEnd(Struct, frozen=True):
    """How a launch ended, as the contract says it, and how the last of its turns did that did not finish."""

    exit_status: str
    end: TurnEnd


class CapsuleLaunch:
    """`stage` it, `take_tasks`, and `finish` it in any case once it has been staged. `workdir` is where its files are."""

    def __init__(
        self,
        home: Home,
        opened: Opened,
        wish: LaunchWish,
        listener: Listener,
        *,
        compiling: Callable[[str, Compiling], None],
        ended: Callable[[TurnEnd], None],
    ) -> None:
        self.id = new_session_id()
        self.workdir: Workdir = workdir_of(self.id, opened.beside, wish.workdir)
        self._home = home
        self._manifest: CapsuleManifest = opened.manifest
        self._wish = wish
        self._listener = listener
        self._compiling = compiling
        self._ended = ended
        self._refusal: str | None = None

    # Staging

    async def stage(self) -> None:
        """Everything that comes before the session. Raises `StagingFailed`, and what opening a session raises; nothing is left then."""
        self._staged = await stage(self._manifest, self._home.path, self._compiling)
        try:
            await self._prepare(self._staged)
        except BaseException as error:
            await self._staged.runtime.close()
            self._unmake()
            if isinstance(error, OSError | TranscriptFailed):
                what = f"{error.filename or self.workdir.session}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
                raise StagingFailed(self._manifest.name, self._manifest.version, what) from error
            raise

    async def _prepare(self, staged: Staged) -> None:
        manifest, workdir = self._manifest, self.workdir
        tokens = await asyncio.to_thread(counter)
        workdir.make()
        self._faults = Faults(workdir)
        self._desk = TaskDesk()
        self._record = ConversationRecord(on=manifest.context.record)
        self._inference = HookInference()
        write_own(workdir.tools, staged.resolved, manifest.shell_allow)
        services = MurmurServices(self._inference, self._desk, self._record, tokens)
        surroundings = Surroundings(self._facts(), services, self._faults)
        self._hooks = MurmurHooks(staged.hooks, staged.runtime, surroundings.launch, services, self._faults)
        await self._ask_at_stage()
        names = own_names(manifest, staged.resolved)
        texts = read_texts(workdir.tools, names)
        self._commands = BackgroundCommands(workdir, manifest.lifecycle.shell_grace_secs)
        tools = offered_tools(manifest, staged.resolved, texts, workdir, self._home.tool_processes, self._commands)
        system = guide(manifest, workdir, texts, [name for name in tools if name not in names], compacts=staged.compacts)
        write_private(workdir.guide, system)
        workdir.bootstrap(f"staged {manifest.name} {manifest.version}; tokens are counted as {tokens.name}")
        await self._hooks.open()
        try:
            self._trace = TraceFile(workdir.trace, self.id)
            witness = Witness(self._trace, manifest, self._desk, self._record, self._inference, self._faults, lambda: list(tools))
            keeper = CapsuleTasks(
                workdir, self._trace, self._desk, witness, tokens, dump_summaries=manifest.inference.compaction.dump_summaries
            )
            self._session = await prepare(
                self._home,
                manifest,
                self.id,
                self._wish.model,
                workdir,
                tools,
                system,
                self._hooks,
                witness,
                keeper,
                tokens,
                self._listener,
                surroundings,
            )
        except BaseException:
            await self._hooks.close()
            raise
        self._witness = witness
        self._record.follow(self._session.state.conversation)
        self._inference.follow(self._session.state)
        keeper.follow(self._session.state)
        threaded = manifest.lifecycle.threaded
        self._runner = Runner(self._session, keeper, self._desk, witness, workdir, self._ended, threaded=threaded)

    def _facts(self) -> contract.Launch:
        manifest, limits, usual = self._manifest, self._manifest.limits, contract.HookLimits()
        compaction = manifest.inference.compaction
        forwarded = {name: self._home.environ[name] for name in _FORWARDED if name in self._home.environ}
        return contract.Launch(
            LaunchFacts(manifest.name, manifest.version, manifest.capabilities, compaction.model, compaction.system_prompt),
            session_workdir=self.workdir.session,
            accessible_workdir=self.workdir.accessible,
            state=self._home.path / "state",
            environment={**forwarded, **manifest.environment},
            limits=contract.HookLimits(
                limits.deadline_seconds or usual.deadline_seconds,
                limits.memory_bytes or usual.memory_bytes,
                limits.table_elements or usual.table_elements,
                limits.instances or usual.instances,
            ),
        )

    async def _ask_at_stage(self) -> None:
        """Row 1: on-stage hooks, whose manifests stand in the place of the runtime's."""
        registry = Registry()
        for handler in self._hooks.handlers():
            if handler.event is Stage:
                registry.add(handler)
        dispatcher = Dispatcher(registry, background=Background(), journal=Journal())
        event = Stage(session=self.id, workspace=str(self.workdir.accessible), shell_allow=self._manifest.shell_allow)
        outcome = await dispatcher.fire(event)
        for contribution in outcome.contributions:
            if isinstance(contribution.decision, WriteManifests):
                write_of_hook(self.workdir.tools, contribution.handler.name, contribution.decision.manifests, self._faults)
        self._faults.forget()

    def _unmake(self) -> None:
        """Leave no session directory behind."""
        shutil.rmtree(self.workdir.session, ignore_errors=True)
        with suppress(OSError):
            # Only an empty one goes.
            self.workdir.session.parent.rmdir()

    # The session

    async def take_tasks(self) -> None:
        """Begin the session and take the tasks. Raises `TranscriptFailed` where it has to write and cannot."""
        self._refusal = await self._session.start("start")
        if self._refusal is None:
            await self._runner.take_all(self._wish.tasks)

    async def finish(self, reason: EndReason, *, failed: Exception | None = None, interrupted: str = "") -> LaunchEnd:
        """End the session: its end hooks, what waits for hooks in the background, then the last line of the trace. Raises
        `TranscriptFailed` where that cannot be written, after all has been ended."""
        ended = self._how(failed, interrupted)
        unwritten: TranscriptFailed | None = None
        try:
            gave_up = await self._session.close("refused" if self._refusal is not None else reason, ended.exit_status)
            self._hooks.drained(gave_up, DRAIN_SECONDS)
            self._witness.session_over(ended.exit_status)
            self._trace.close()
        except TranscriptFailed as failure:
            unwritten = failure
        try:
            await self._session.finish(reason, ended.end)
        except TranscriptFailed as failure:
            unwritten = unwritten or failure
        await self._commands.close()
        await self._hooks.close()
        await send_all_spans(self._staged.hooks, self._facts(), self._faults)
        await self._staged.runtime.close()
        if unwritten is not None and failed is None:
            raise unwritten
        return ended

    def _how(self, failed: Exception | None, interrupted: str) -> LaunchEnd:
        outcomes = self._runner.outcomes
        if self._refusal is not None:
            return LaunchEnd("failed", TurnEnd("refused", reason=self._refusal))
        if interrupted:
            return LaunchEnd("canceled", TurnEnd("interrupted", reason=interrupted))
        if failed is not None:
            return LaunchEnd("failed", TurnEnd("failed", reason=str(failed)))
        last = outcomes[-1].exit_status if outcomes else "ok"
        ends = [outcome.end for outcome in outcomes]
        return LaunchEnd(last, next((end for end in ends if end.status != "finished"), ends[-1] if ends else TurnEnd("finished")))


def tasks_beside(given: Sequence[str], beside: Path) -> tuple[str, ...]:
    """The tasks on the command line, else the one in `task.md`. Raises `OSError` where that cannot be read."""
    if given:
        return tuple(given)
    with open_unknown(beside / "task.md") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        return (file.read().decode("utf-8", "replace"),)
