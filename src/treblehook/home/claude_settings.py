"""The hooks that people already have: which of Claude Code's settings files count in a session of a home, and what they stand on."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from treblehook.agent.permissions.rules import SHELL_TOOL, Rule, Rules
from treblehook.contracts.claude.settings.asking import Asking
from treblehook.contracts.claude.settings.bind import Surroundings, bind_settings
from treblehook.contracts.claude.settings.entries import SettingsFile, SettingsHook
from treblehook.contracts.claude.settings.loading import read_settings_file
from treblehook.contracts.claude.settings.merging import Merged, merged
from treblehook.contracts.claude.settings.wishes import CallWishes, WishedPermission
from treblehook.engine import Handler, Mode
from treblehook.home.claude_settings_own import asks_us
from treblehook.home.settings import SETTINGS_SOURCES
from treblehook.home.trust import HeldBack, Snapshot, Untrustable, WorkspaceSettings, trusted_settings
from treblehook.home.trust.snapshot import read_file
from treblehook.host.permission import Permission
from treblehook.host.problems import Problem
from treblehook.runtimes.process import ProcessRuntime

USER, PROJECT = SETTINGS_SOURCES
AT_ONCE: Final = 64
"""These hooks may take ten minutes; a runtime of their own keeps them from holding up others."""


class Found(Struct, frozen=True):
    """What the files of one session come to; `held` is what a workspace brings and is not trusted."""

    merged: Merged = Merged()
    held: HeldBack | None = None


class SessionSettings(Struct, frozen=True):
    """The settings hooks of one session, and what they say of permissions in it."""

    hooks: tuple[SettingsHook, ...]
    wishes: CallWishes

    def for_subagent(self) -> "SessionSettings":
        """The same hooks, whatever their files say by now."""
        return SessionSettings(self.hooks, CallWishes())

    def permission(self, rules: Permission) -> Permission:
        """The rules of the session with what the hooks say beside them."""
        return WishedPermission(rules, self.wishes)


def no_settings() -> SessionSettings:
    """Of a session that has no such hooks."""
    return SessionSettings((), CallWishes())


class ClaudeSettings:
    """The settings hooks of one home. `sources` are those of `user` and `project` that its `config.toml` names, `report` is told at each
    start of what is broken or held back, and once of each hook that failed in the background."""

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str],
        sources: tuple[str, ...],
        *,
        modes: Callable[[], Mapping[str, Mode]],
        report: Callable[[Problem], None],
    ) -> None:
        self._home = home
        self._environ = environ
        self._sources = sources
        self._report = report
        self._processes = ProcessRuntime(at_once=AT_ONCE)
        self._aside: set[asyncio.Task[None]] = set()
        self._told: set[Problem] = set()
        asking = Asking(self._processes, environ, self.transcript, self._failed_aside)
        self._around = Surroundings(asking, may_run, self._start_aside, modes)

    def find(self, workspace: Path | None, *, trust: bool = False, elsewhere: Collection[str] = ()) -> Found:
        """The files as they are now; without a `workspace` only the user's. `trust` trusts what the workspace brings as it is now. The
        sources in `elsewhere` are left out."""
        sources = [source for source in self._sources if source not in elsewhere]
        files = list(self._user()) if USER in sources else []
        found = None
        if PROJECT in sources and workspace is not None and not self._is_users(workspace):
            found = trusted_settings(self._home, workspace, trust_now=trust)
        if isinstance(found, WorkspaceSettings):
            files += settings_files(found)
        return Found(_foreign(merged(files)), found if isinstance(found, HeldBack) else None)

    def session(
        self, workspace: Path | None, *, trust: bool = False, elsewhere: Collection[str] = (), seconds: float | None = None
    ) -> SessionSettings:
        """The hooks of one session; what is broken or held back is reported, and opens. An agent runs the hooks of the sources in
        `elsewhere` itself. No hook may take more than `seconds`."""
        found = self.find(workspace, trust=trust, elsewhere=elsewhere)
        for problem in found.merged.problems:
            if problem.level == "error":
                self._report(problem)
        if found.held is not None:
            self._report(found.held.problem)
        hooks = found.merged.hooks
        if seconds is not None:
            hooks = tuple(replace(hook, seconds=min(hook.seconds, seconds)) for hook in hooks)
        return SessionSettings(hooks, CallWishes())

    def handlers(self, settings: SessionSettings, *, spawned: bool) -> list[Handler]:
        """The handlers of one session."""
        return bind_settings(settings.hooks, settings.wishes, self._around, spawned=spawned)

    def held_back(self, workspace: Path | None, *, spawned: bool, elsewhere: Collection[str] = ()) -> tuple[list[Handler], str]:
        """The handlers that a session would have if its workspace were trusted, and why it is not; nobody binds them."""
        found = self.find(workspace, elsewhere=elsewhere)
        hooks = self.merged_held(found).hooks
        handlers = bind_settings(hooks, CallWishes(), self._around, spawned=spawned)
        return handlers, "" if found.held is None else found.held.why

    def merged_held(self, found: Found) -> Merged:
        """What is held back, as it would be if it were trusted."""
        if found.held is None or found.held.found is None:
            return Merged()
        return _foreign(merged(settings_files(found.held.found)))

    async def close(self) -> None:
        """End every hook that still runs."""
        await self._processes.close()
        for task in self._aside:
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)

    def _user(self) -> Iterator[SettingsFile]:
        file = self._user_file()
        if file is None:
            return
        try:
            content = read_file(file)
        except Untrustable as unreadable:
            yield SettingsFile(str(file), problems=(Problem(str(file), "", f"{unreadable.why}: it has no hooks now"),))
        else:
            yield read_settings_file(str(file), content)

    def _user_file(self) -> Path | None:
        """The user's settings file, where there is one."""
        named = self._environ.get("CLAUDE_CONFIG_DIR")
        folder = Path(named) if named else Path(self._environ.get("HOME") or Path.home(), ".claude")
        file = folder / "settings.json"
        return file if file.exists() or file.is_symlink() else None

    def _is_users(self, workspace: Path) -> bool:
        """Whether the settings of the workspace are the user's own, which count as such."""
        file = self._user_file()
        own = workspace / ".claude" / "settings.json"
        return USER in self._sources and file is not None and own.exists() and file.exists() and own.samefile(file)

    def transcript(self, session: str) -> str:
        """The path of a session's file, as hooks are told it."""
        return str(self._home / "sessions" / f"{session}.jsonl")

    def _start_aside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    def _failed_aside(self, hook: SettingsHook, message: str) -> None:
        problem = Problem(hook.file, hook.place, f"{hook.name} failed in the background: {message}", level="warning")
        if problem not in self._told:
            self._told.add(problem)
            self._report(problem)


def _foreign(found: Merged) -> Merged:
    """Without the entries that ask us."""
    return replace(found, hooks=tuple(hook for hook in found.hooks if not asks_us(hook)))


def may_run(pattern: str, command: str) -> bool:
    """Whether a permission pattern holds for some command in a command line, or might, as far as can be seen."""
    rules = Rules(deny=[Rule(f"{SHELL_TOOL}({pattern})")])
    return rules.verdict(SHELL_TOOL, command, asks=False).kind != "allow"


def settings_files(found: Snapshot) -> list[SettingsFile]:
    """The settings files of a workspace, from the bytes that were hashed."""
    assert isinstance(found, WorkspaceSettings), "only settings are held back as settings"
    return [read_settings_file(str(found.folder / name), content) for name, content in found.settings.items()]
