"""The routes of sessions: each request's words turned into a call of `LiveSessions`, and what that raises into an answer."""

from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from treblehook.agent.errors import SessionRefused
from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.agent.transcript import SessionBusy, SessionNotFound, TranscriptFailed
from treblehook.daemon.http.answers import ApiError, Wrong, answer, refused
from treblehook.daemon.http.operation import Answered, Operation, Parameter, body_of
from treblehook.daemon.sessions.feed import Feed
from treblehook.daemon.sessions.live import LiveSessions, NotThere
from treblehook.daemon.sessions.prompts import TooManyWait
from treblehook.daemon.sessions.stream import EventStream
from treblehook.daemon.sessions.values import Accepted, Closed, Opening, Prompt, SessionInfo, Sessions
from treblehook.home.profile import SessionWish
from treblehook.home.residents import DeletionFailed, HomeStopping, NotResident
from treblehook.host.problems import ConfigInvalid

_ONE: Final = "/api/sessions/{id}"
_OPENING: Final = (400, 403, 409, 415, 422, 503)


class SessionRoutes:
    """The routes; `kilns` are the names that a session may be given."""

    def __init__(self, live: LiveSessions, kilns: Collection[str]) -> None:
        self._live = live
        self._kilns = kilns

    def operations(self) -> list[Operation]:
        """All of them."""
        forget = Parameter(
            "forget", "query", {"type": "boolean", "default": False}, "Also move its file to the trash; the session may be closed."
        )
        last = Parameter("Last-Event-ID", "header", {"type": "string"}, "The `id` of the last event that was received.")
        return [
            Operation(
                "POST",
                "/api/sessions",
                "openSession",
                "Open a session",
                {201: Answered("It is open", SessionInfo)},
                "Start hooks are asked; one that refuses is a 403 with its words.",
                handle=self.open,
                body=Opening,
                errors=_OPENING,
            ),
            Operation(
                "GET", "/api/sessions", "listSessions", "The sessions", {200: Answered("Those that are open", Sessions)}, handle=self.list
            ),
            Operation("GET", _ONE, "getSession", "One session", {200: Answered("It is open", SessionInfo)}, handle=self.get, errors=(404,)),
            Operation(
                "DELETE",
                _ONE,
                "closeSession",
                "Close a session",
                {200: Answered("It is closed", Closed)},
                "End hooks are told `closed`. The session's file stays, and a prompt opens it again.",
                handle=self.close,
                parameters=(forget,),
                errors=(404, 409, 422),
            ),
            Operation(
                "POST",
                f"{_ONE}/prompts",
                "prompt",
                "Send a message to a session",
                {202: Answered("It has been taken", Accepted)},
                "A session that is not open is opened again, as `--resume` does. With the answer the message is in the session's file: "
                "what waited when the daemon ended is taken when the session is opened again.",
                handle=self.prompt,
                body=Prompt,
                errors=(*_OPENING, 404, 429),
            ),
            Operation(
                "GET",
                f"{_ONE}/events",
                "watchSession",
                "The records of a session, as they happen",
                {200: Answered("Server-sent events", media_type="text/event-stream")},
                "Each event is a record of `--output jsonl`, its `event` the record's type. Send its `id` as Last-Event-ID to go on after "
                "it. Older records come from the session's file, which leaves out texts that hooks have changed (`left_out`). A last "
                "event `closed` says why nothing follows: `closed`, `deleted`, `shutdown`, `not_open`, or `unreadable`.",
                app=EventStream(self.watch),
                parameters=(last,),
                errors=(400, 404),
            ),
        ]

    async def open(self, request: Request) -> Response:
        """POST /api/sessions."""
        opening: Opening = await body_of(request, Opening)
        with _told():
            info = await self._live.open(self._wish(opening))
        return answer(info, 201, {"Location": f"/api/sessions/{info.id}"})

    async def list(self, request: Request) -> Response:
        """GET /api/sessions."""
        return answer(Sessions(self._live.infos()))

    async def get(self, request: Request) -> Response:
        """GET /api/sessions/{id}."""
        with _told():
            return answer(self._live.info(_id(request)))

    async def close(self, request: Request) -> Response:
        """DELETE /api/sessions/{id}."""
        session, forget = _id(request), _flag(request, "forget")
        with _told():
            await (self._live.forget(session) if forget else self._live.close(session))
        return answer(Closed(session, kept=not forget))

    async def prompt(self, request: Request) -> Response:
        """POST /api/sessions/{id}/prompts."""
        prompt: Prompt = await body_of(request, Prompt)
        if not prompt.prompt.strip():
            raise ApiError(422, Wrong("body_invalid", "a prompt is a text that is not blank", "$.prompt", repr(prompt.prompt)))
        with _told():
            standing, ahead = await self._live.prompt(_id(request), prompt.prompt, prompt.when)
        return answer(Accepted(_id(request), standing, ahead), 202)

    @asynccontextmanager
    async def watch(self, session: str) -> AsyncIterator[Feed]:
        """The feed for GET /api/sessions/{id}/events."""
        with _told():
            async with self._live.watch(session) as feed:
                yield feed

    def _wish(self, opening: Opening) -> SessionWish:
        unknown = [name for name in opening.kilns or () if name not in self._kilns]
        if unknown:
            allowed = ", ".join(self._kilns) or "none; [kilns] in config.toml names none"
            raise ApiError(422, Wrong("unknown_kiln", "there is no such kiln", "$.kilns", ", ".join(unknown), allowed))
        kilns = None if opening.kilns is None else tuple(opening.kilns)
        return SessionWish(workspace=_workspace(opening.workspace), model=opening.model, kilns=kilns)


def _workspace(given: str | None) -> Path | None:
    if given is None:
        return None
    path = Path(given)
    wrong = "" if path.is_absolute() or path.parts[:1] == ("~",) else "it is relative, and the daemon is in no folder of yours"
    try:
        if not wrong and not path.expanduser().is_dir():
            wrong = "it is no folder"
    except (OSError, ValueError, RuntimeError) as error:
        wrong = f"it is no path: {error}"
    if wrong:
        raise ApiError(422, Wrong("workspace_invalid", wrong, "$.workspace", given, "the absolute path of a folder"))
    return path


def _id(request: Request) -> str:
    session: Any = request.path_params["id"]
    return str(session)


def _flag(request: Request, name: str) -> bool:
    given = request.query_params.get(name, "false")
    if given not in ("true", "false"):
        raise ApiError(422, Wrong("query_invalid", "no such value", name, given, "true, false"))
    return given == "true"


@contextmanager
def _told() -> Iterator[None]:
    """What can go wrong with a session, as an answer."""
    try:
        yield
    except NotThere as error:
        raise refused(404, "session_not_open" if error.known else "session_unknown", str(error)) from error
    except (SessionNotFound, NotResident) as error:
        raise refused(404, "session_unknown", str(error)) from error
    except SessionRefused as error:
        raise refused(403, "session_refused", error.reason) from error
    except ModelSpecInvalid as error:
        raise ApiError(422, Wrong("model_invalid", str(error), "$.model")) from error
    except ConfigInvalid as error:
        raise ApiError(422, Wrong("config_invalid", "the session cannot be opened", problems=error.problems)) from error
    except TooManyWait as error:
        raise refused(429, "too_many_wait", str(error)) from error
    except HomeStopping as error:
        raise refused(503, "stopping", str(error)) from error
    except SessionBusy as error:
        raise refused(409, "session_busy", str(error)) from error
    except (TranscriptFailed, DeletionFailed) as error:
        raise refused(500, "not_written", str(error)) from error
