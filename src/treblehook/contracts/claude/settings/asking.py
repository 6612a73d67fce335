"""Asking one hook: a process, or a request; what comes back is what it said."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from treblehook.contracts.claude.settings.answers import Said, said
from treblehook.contracts.claude.settings.entries import CommandLine, Endpoint, SettingsHook
from treblehook.contracts.claude.settings.payloads import Transcript, payload
from treblehook.contracts.vera.json_text import NotJson, encoded
from treblehook.engine import HookFailed, HookNotStarted, HookProblem, HookTimedOut
from treblehook.lifecycle import Event
from treblehook.runtimes.process import Finished, Limits, NotStarted, ProcessError, ProcessRuntime, TimedOut, TooMuchOutput

if TYPE_CHECKING:
    # Most settings have no HTTP hooks.
    from treblehook.contracts.crucible.library.http_client import HttpClient

LIMITS: Final = Limits(stdin_bytes=64 * 1024 * 1024, stdout_bytes=1024 * 1024)
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Heard(Struct, frozen=True):
    """What a hook said, and its own words for whoever looks into it."""

    said: Said
    raw: str


class Asker(Protocol):
    """Whoever asks hooks."""

    async def ask(self, hook: SettingsHook, event: Event) -> Heard:
        """Ask it. Raises `HookProblem`."""


class Asking:
    """Asks the hooks of one home. `environ` is what commands inherit and headers may name, `report` is told of what failed in the
    background, where nobody waits for it."""

    def __init__(
        self, processes: ProcessRuntime, environ: Mapping[str, str], transcript: Transcript, report: Callable[[SettingsHook, str], None]
    ) -> None:
        self._processes = processes
        self._environ = environ
        self._transcript = transcript
        self._report = report
        self._http: HttpClient | None = None

    async def ask(self, hook: SettingsHook, event: Event) -> Heard:
        """Ask a hook and wait for it. Raises `HookProblem`."""
        try:
            sent = encoded(payload(hook.event.name, event, self._transcript))
        except NotJson as error:
            raise HookNotStarted(f"was not started: the event cannot be written as JSON: {error}") from error
        if isinstance(hook.how, CommandLine):
            return await self._command(hook, hook.how, sent, event)
        return await self._post(hook, hook.how, sent, event)

    async def in_background(self, hook: SettingsHook, event: Event) -> None:
        """The same for a hook whose answer nobody waits for."""
        try:
            await self.ask(hook, event)
        except HookProblem as problem:
            self._report(hook, problem.message)

    async def _command(self, hook: SettingsHook, how: CommandLine, sent: bytes, event: Event) -> Heard:
        env = {**self._environ, "CLAUDE_PROJECT_DIR": event.workspace}
        argv = ("/bin/sh", "-c", how.line)
        try:
            done = await self._processes.run(argv, sent, limits=LIMITS, timeout_seconds=hook.seconds, cwd=event.workspace or None, env=env)
        except NotStarted as error:
            raise HookNotStarted(f"was not started: {error.why}") from error
        except TimedOut as error:
            raise HookTimedOut(error.seconds) from error
        except TooMuchOutput as error:
            raise HookFailed(f"printed more than {error.limit} bytes") from error
        except ProcessError as error:
            raise HookFailed(str(error)) from error
        raw = _words(done)
        return Heard(_said(hook, event, done.status, done.stdout, done.stderr, raw), raw)

    async def _post(self, hook: SettingsHook, how: Endpoint, sent: bytes, event: Event) -> Heard:
        from treblehook.contracts.crucible.library.http_client import HttpClient, HttpRequest, UrlRefused

        if self._http is None:
            self._http = HttpClient(LIMITS.stdout_bytes)
        headers = {"content-type": "application/json", **{name: self._filled(value, how) for name, value in how.headers.items()}}
        request = HttpRequest("POST", how.url, headers, sent, {}, hook.seconds, follow_redirects=False)
        try:
            answer = await self._http.send(request)
        except ImportError as error:
            raise HookNotStarted("was not asked: HTTP hooks need pip install 'treblehook[models]'") from error
        except (UrlRefused, UnicodeEncodeError) as error:
            raise HookNotStarted(f"was not asked: {error}") from error
        if answer.error:
            raise HookFailed(f"was not reached: {answer.error}")
        raw = answer.body.decode("utf-8", "replace")
        if not 200 <= answer.status < 300:
            raise HookFailed(f"answered with HTTP status {answer.status}", raw=raw)
        return Heard(_said(hook, event, 0, answer.body, b"", raw), raw)

    def _filled(self, value: str, how: Endpoint) -> str:
        """A header's value with the variables that it may name; any other is empty."""
        return _VARIABLE.sub(lambda found: self._variable(found[1] or found[2], how), value)

    def _variable(self, name: str, how: Endpoint) -> str:
        return self._environ.get(name, "") if name in how.variables else ""


def _said(hook: SettingsHook, event: Event, status: int, stdout: bytes, stderr: bytes, raw: str) -> Said:
    try:
        return said(hook.event.name, event, status, stdout, stderr)
    except HookFailed as problem:
        raise HookFailed(problem.message, raw=raw) from problem


def _words(done: Finished) -> str:
    return "\n".join(part.decode("utf-8", "replace") for part in (done.stdout, done.stderr) if part)
