"""A home with a workspace and a scripted model, and sessions in this process that tell everything."""

import asyncio
import json
import os
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.command_home import CommandHome
from tests.support.processes import until
from treblehook.agent.listener import Listener
from treblehook.agent.models import open_model
from treblehook.agent.models.model import Model, ModelQuery, ModelReply
from treblehook.agent.permissions import Always, Approver
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.contracts.python import Hooks
from treblehook.home import sessions
from treblehook.home.home import Home
from treblehook.home.profile import SessionWish
from treblehook.home.sessions import Company, open_session
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Message, ToolCall

Record = dict[str, Any]

KEEPS_STDIN = 'payload=$(cat); printf "%s\\n" "$payload" >> "$0.stdin"\n'
"""The first line of a script that records what it is sent, also where several of it run at once; see `Nest.sent`."""

OBSERVE = f"""{KEEPS_STDIN}echo '{{"power":"observe"}}'"""
"""A script that records what it is sent and leaves everything alone."""

HELD = 'touch "$0.started"; while [ ! -e "$0.go" ]; do sleep 0.005; done\n'
"""A line of a script that goes on once `Nest.release` has been called; `Nest.started` waits until it is reached."""


class Ears(Listener):
    """Hears the records of all sessions, and what the model says while it says it."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.texts: list[tuple[str, str]] = []

    def record(self, record: Record) -> None:
        self.records.append(record)

    def text(self, session: str, delta: str) -> None:
        self.texts.append((session, delta))

    def of(self, kind: str, session: str | None = None) -> list[Record]:
        """The records of one type, in order."""
        return [record for record in self.records if record["type"] == kind and session in (None, record["session"])]

    def types(self, *, without: tuple[str, ...] = ("session",)) -> list[str]:
        """The types of the records, in order."""
        return [record["type"] for record in self.records if record["type"] not in without]

    def rows(self) -> list[str]:
        """The texts of the rows."""
        return [record["text"] for record in self.of("row")]


class Watched:
    """A model that keeps what it is sent."""

    def __init__(self, model: Model, nest: "Nest") -> None:
        self.spec = model.spec
        self.window = model.window
        self._model = model
        self._nest = nest

    async def reply(self, query: ModelQuery, on_text: Callable[[str], None]) -> ModelReply:
        self._nest.queries.append(query)
        self._nest.specs.append(self.spec)
        if self._nest.before_reply is not None:
            await self._nest.before_reply(query)
        if self._nest.replies:
            return self._nest.replies.pop(0)
        return await self._model.reply(query, on_text)


class Prompts(Approver):
    """Whoever answers permission prompts: with `answer`, once `go` is set."""

    def __init__(self, answer: bool = True, *, held: bool = False) -> None:
        self.calls: list[ToolCall] = []
        self.reasons: list[str] = []
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self._answer = answer
        if not held:
            self.go.set()

    async def approve(self, call: ToolCall, spec: ToolSpec, reason: str = "") -> bool:
        self.calls.append(call)
        self.reasons.append(reason)
        self.asked.set()
        await self.go.wait()
        return self._answer


class Deaf:
    """Something foreign that is cancelled in vain: it goes on when `go` is set. Only the end of the test is a second time."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()
        self.ended = asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            await self.go.wait()
        self.ended.set()


class Nest(CommandHome):
    """`queries` is what models were sent and `specs` which ones; `replies`, where there are any, are given instead of the script's.

    `before_reply` is called first, and may wait.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "home")
        self.place = folder
        self.workspace = folder / "nest"
        self.workspace.mkdir()
        self.ears = Ears()
        self.queries: list[ModelQuery] = []
        self.specs: list[str] = []
        self.replies: list[ModelReply] = []
        self.before_reply: Callable[[ModelQuery], Awaitable[None]] | None = None
        self._home: Home | None = None
        self._open: list[Session] = []
        self.plays()

    def hold_model(self) -> tuple[asyncio.Event, asyncio.Event]:
        """Let the model wait: the events are set once it has been asked, and to let it go on."""
        asked, go = asyncio.Event(), asyncio.Event()

        async def wait(query: ModelQuery) -> None:
            asked.set()
            await go.wait()

        self.before_reply = wait
        return asked, go

    def plays(self, *turns: Record, model: str = "model", **more: Any) -> str:
        """What the model says, turn by turn; answers its SPEC."""
        file = self.place / f"{model}.json"
        file.write_text(json.dumps({"turns": turns, **more}))
        return f"script:{file}"

    @property
    def home(self) -> Home:
        """The running home."""
        if self._home is None:
            self._home = Home(self.folder, os.environ)
        return self._home

    def company(self, approver: Approver | None = None, hooks: Hooks | None = None) -> Company:
        return Company(self.ears, approver or Always(), hooks)

    def wish(self, **wish: Any) -> SessionWish:
        model = {} if "resume" in wish else {"model": f"script:{self.place / 'model.json'}"}
        return SessionWish(**{"workspace": self.workspace, **model, **wish})

    async def open(self, *, approver: Approver | None = None, hooks: Hooks | None = None, **wish: Any) -> Session:
        """Open a session; `wish` is as `SessionWish` has it."""
        session = await open_session(self.home, self.wish(**wish), self.company(approver, hooks))
        self._open.append(session)
        return session

    async def close(self) -> None:
        """End what is open, and the home."""
        for session in self._open:
            await session.finish("closed")
        if self._home is not None:
            await self._home.close()

    def recorder(self, phase: str, name: str | None = None, **entry: Any) -> None:
        """A hook that records what it is sent and leaves everything alone, or that only watches."""
        self.hook(phase, name or phase, OBSERVE, **entry)

    def answers(self, phase: str, name: str, answers: Mapping[str, object], **entry: Any) -> None:
        """A hook that records what it is sent and gives the answer of the first text that is in it; otherwise it observes."""
        chosen = ""
        for text, said in answers.items():
            chosen += f"""if printf %s "$payload" | grep -qF {shlex.quote(text)}; then cat <<'END'\n{json.dumps(said)}\nEND\nel"""
        chosen += """se echo '{"power":"observe"}'; fi"""
        self.hook(phase, name, KEEPS_STDIN + chosen, **entry)

    def sent(self, name: str) -> list[Any]:
        """The payloads that a script which records them was sent."""
        file = self.hooks / f"{name}.stdin"
        return [json.loads(line) for line in file.read_text().split("\n")[:-1]] if file.exists() else []

    async def heard(self, name: str, count: int = 1) -> list[Any]:
        """The payloads of a script that nobody waits for, once there are `count`."""
        await until(lambda: len(self.sent(name)) >= count)
        return self.sent(name)

    async def started(self, name: str) -> None:
        """Wait until a held script runs."""
        await until((self.hooks / f"{name}.started").exists)

    def release(self, name: str) -> None:
        """Let a held script go on."""
        (self.hooks / f"{name}.go").touch()

    def log(self) -> list[Record]:
        """The lines of host.jsonl."""
        file = self.folder / "runtime" / "logs" / "host.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def stored(self, session: Session) -> list[Record]:
        """The session's file."""
        return [json.loads(line) for line in (self.folder / "sessions" / f"{session.id}.jsonl").read_text().splitlines()]

    def on_disk(self) -> bytes:
        """Everything below `sessions/`, end to end."""
        return b"\0".join(path.read_bytes() for path in sorted((self.folder / "sessions").rglob("*")) if path.is_file())


@contextmanager
def opening_models(nest: Nest) -> Iterator[None]:
    """Models that are opened meanwhile are watched by `nest`."""

    def opened(spec: str, **options: Any) -> Watched:
        return Watched(open_model(spec, **options), nest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "open_model", opened)
        yield


@pytest.fixture
async def nest(tmp_path: Path) -> AsyncIterator[Nest]:
    nest = Nest(tmp_path)
    with opening_models(nest):
        yield nest
        await nest.close()


async def settled(session: Session) -> list[TurnEnd]:
    """Every background subagent has handed back, and every turn for what they delivered is over."""
    ends: list[TurnEnd] = []
    await session.settle(ends.append)
    return ends


def says(answer: object) -> str:
    """A script that records what it is sent and prints `answer` as JSON."""
    return f"{KEEPS_STDIN}cat <<'END'\n{json.dumps(answer)}\nEND"


def bash(*commands: str, text: str = "") -> Record:
    """A turn of the model that calls `bash` for each command."""
    return {"text": text, "tools": [{"name": "bash", "args": {"command": command}} for command in commands]}


def agent(task: str, **arguments: Any) -> Record:
    """A turn of the model that calls `agent`."""
    return {"tools": [{"name": "agent", "args": {"task": task, **arguments}}]}


def texts(query: ModelQuery) -> list[str]:
    """The texts of the user's side of a request."""
    return [message.text for message in query.messages if message.role == "user"]


def offered(query: ModelQuery) -> list[str]:
    """The names of the tools that a request offers."""
    return [tool.name for tool in query.tools]


def unnamed(messages: list[Message]) -> list[Message]:
    """The messages without their ids, which those of tools get anew when a session is resumed."""
    return [replace(message, id="") for message in messages]


def check_answered(messages: list[Message]) -> None:
    """Every call has one result, right behind the reply that made it, and there is no result without a call."""
    open_calls: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert message.call_id in open_calls, f"a result for no open call: {message}"
            open_calls.remove(message.call_id)
            continue
        assert not open_calls, f"unanswered: {open_calls} before {message}"
        open_calls = [call.id for call in message.calls]
        assert len(set(open_calls)) == len(open_calls), f"the same id twice: {message}"
    assert not open_calls, f"unanswered: {open_calls}"
