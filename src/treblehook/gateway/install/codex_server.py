"""`codex app-server`: JSON-RPC over its standard input and output, one message a line (captures, HONOURED.md 6)."""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import msgspec

CALL_SECONDS: Final = 30.0
"""How long one answer may take."""

_END_SECONDS: Final = 5.0
_LONGEST_LINE: Final = 64 * 1024 * 1024


class CodexFailed(Exception):
    """Codex could not be asked, or said no; the message says which."""


class AppServer:
    """A server that runs while it is entered. Entering and every call raise `CodexFailed`."""

    def __init__(self, program: str, environ: Mapping[str, str], *, seconds: float = CALL_SECONDS) -> None:
        self._program = program
        self._environ = dict(environ)
        self._seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._last = 0

    async def __aenter__(self) -> Self:
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            self._process = await asyncio.create_subprocess_exec(
                self._program, "app-server", stdin=pipe, stdout=pipe, stderr=nothing, env=self._environ, limit=_LONGEST_LINE
            )
        except OSError as error:
            raise CodexFailed(f"{self._program} cannot be started: {error.strerror}") from error
        try:
            await self.call("initialize", {"clientInfo": {"name": "treblehook", "version": "1"}})
            await self._send({"method": "initialized"})
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._end()

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a call."""
        self._last += 1
        try:
            async with asyncio.timeout(self._seconds):
                await self._send({"id": self._last, "method": method, "params": params})
                return await self._answer(method)
        except TimeoutError:
            raise CodexFailed(f"codex app-server: {method}: no answer within {self._seconds:g} s") from None

    async def _answer(self, method: str) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            try:
                message = msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.DecodeError as error:
                raise CodexFailed(f"codex app-server: {method}: found {line[:60]!r}, which is no message") from error
            # Everything else on the line is news that nobody here has asked for.
            if message.get("id") == self._last and "method" not in message:
                if not isinstance(result := message.get("result"), dict):
                    raise CodexFailed(f"codex app-server: {method}: {message.get('error', message)}")
                return result
        raise CodexFailed(f"codex app-server: {method}: it ended without an answer")

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(message) + b"\n")
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise CodexFailed("codex app-server: it has ended") from error

    async def _end(self) -> None:
        """It ends with its input; one that does not is killed."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
