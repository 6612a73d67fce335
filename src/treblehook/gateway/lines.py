"""The command lines that an agent's configuration gets: they ask the daemon, and stand for the guard where nobody answers."""

import json
import shlex
import sys
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.gateway.agents import codec_of

ANSWER_SECONDS: Final = 100
"""How long the daemon takes to answer at most."""

CLIENT_SECONDS: Final = 110
"""How long a client waits for it."""

AGENT_SECONDS: Final = 120
"""How long an agent is told to wait for the client. Agents let pass what takes longer, so this is the longest of the three."""

_CLIENT: Final = Path(__file__).parent / "client" / "client.py"
_TOO_LATE: Final = 28
"""curl's exit status where `--max-time` has passed."""


class ClientPlace(Struct, frozen=True):
    """What a client needs to know: the home, its socket, a Python that has Treblehook, and curl, None where there is none."""

    home: Path
    socket: Path
    curl: str | None
    python: str = sys.executable


def command_line(agent: str, event: str, place: ClientPlace, *, closed: bool) -> str:
    """What an agent is to run at its `event`. With `closed` it denies where no answer is to be had, otherwise it lets pass and says so."""
    client = client_line(agent, event, place, closed=closed, shown=True)
    if place.curl is None:
        return client
    return f"sh -c {shlex.quote(_script(agent, event, place, client, closed=closed))}"


def client_line(agent: str, event: str, place: ClientPlace, *, closed: bool, shown: bool = False) -> str:
    """The client that starts the daemon where none runs, and asks the hooks itself where that fails. What an open one says is `shown` where
    an agent runs it itself: of the standard error of a hook that lets pass, most agents show their user nothing."""
    policy = "closed" if closed else "shown" if shown else "open"
    words = [place.python, "-S", "-E", str(_CLIENT), agent, event, policy, str(place.socket), str(place.home)]
    return shlex.join(words)


def http_url(agent: str, event: str, base: str) -> str:
    """Where an agent that speaks HTTP itself sends its hook calls."""
    return f"{base}/hooks/{agent}?event={event}"


def _script(agent: str, event: str, place: ClientPlace, client: str, *, closed: bool) -> str:
    """curl first, which starts in a third of the time that Python takes."""
    assert place.curl is not None
    options = ["-sSf", "--max-time", str(CLIENT_SECONDS), "--unix-socket", str(place.socket), "-H", "Content-Type: application/json"]
    asking = shlex.join([place.curl, *options, "--data-binary", "@-", http_url(agent, event, "http://localhost")])
    late = _given_up(agent, event, f"no answer within {CLIENT_SECONDS} s", closed=closed)
    lost = _given_up(agent, event, "the gateway cannot be reached", closed=closed)
    return (
        f'p=$(cat); r=$(printf %s "$p" | {asking} 2>/dev/null); s=$?; '
        f'if [ $s = 0 ]; then printf %s "$r"; elif [ $s = {_TOO_LATE} ]; then {late}; '
        f'else printf %s "$p" | {client} || {{ {lost}; }}; fi'
    )


def _given_up(agent: str, event: str, why: str, *, closed: bool) -> str:
    """`systemMessage` is what Claude Code, Codex and Gemini show their user; to the others it is no opinion."""
    if closed:
        word = f"treblehook: {why}, the call is denied"
        # Whatever the exit status says, Copilot takes a prompt, but not against an answer.
        answer = f"printf %s {shlex.quote(json.dumps(codec_of(agent).refuse(event, word)))}; " if agent == "copilot" else ""
        return f'{answer}echo "{word}" >&2; exit 2'
    word = f"treblehook: {why}, the hooks were not asked"
    return f'echo "{word}" >&2; printf %s {shlex.quote(json.dumps({"systemMessage": word}))}; exit 0'
