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

_AGAIN_SECONDS: Final = 2
"""A call whose daemon dies later than that is not asked about again: the client may take as long as the agent waits, but for this."""

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
    lost = _given_up(agent, event, "the gateway cannot be reached", closed=closed)
    # Python, or the client, may be gone; then the shell alone stands for the guard.
    client = f"{client_line(agent, event, place, closed=closed, shown=True)} || {{ {lost}; }}"
    if place.curl is None:
        return f"sh -c {shlex.quote(client)}"
    script = _script(agent, event, place, (client, lost), closed=closed)
    return f"sh -c {shlex.quote(script)}"


def client_line(agent: str, event: str, place: ClientPlace, *, closed: bool, shown: bool = False) -> str:
    """The client that starts the daemon where none runs, and asks the hooks itself where that fails. What an open one says is `shown` where
    an agent runs it itself: of the standard error of a hook that lets pass, most agents show their user nothing."""
    policy = "closed" if closed else "shown" if shown else "open"
    words = [place.python, "-S", "-E", str(_CLIENT), agent, event, policy, str(place.socket), str(place.home)]
    return shlex.join(words)


def http_url(agent: str, event: str, base: str) -> str:
    """Where an agent that speaks HTTP itself sends its hook calls."""
    return f"{base}/hooks/{agent}?event={event}"


def _script(agent: str, event: str, place: ClientPlace, otherwise: tuple[str, str], *, closed: bool) -> str:
    """curl first, which starts faster than Python. It reads no .curlrc (`-q`), which could put text around an answer
    or take it away, and only an object is taken for one. `otherwise` is the client, and what to do where there is no time left for it."""
    assert place.curl is not None
    options = ["-q", "-sSf", "--max-time", str(CLIENT_SECONDS), "--unix-socket", str(place.socket), "-H", "Content-Type: application/json"]
    asking = shlex.join([place.curl, *options, "--data-binary", "@-", http_url(agent, event, "http://localhost")])
    late = _given_up(agent, event, f"no answer within {CLIENT_SECONDS} s", closed=closed)
    client, lost = otherwise
    # The shell reads a clock without starting anything; where there is no such file, no time is told.
    clock = "{{ read -r {0} x </proc/uptime; }} 2>/dev/null"
    return (
        f's=0; t=0; {clock.format("s")}; p=$(cat); r=$(printf %s "$p" | {asking} 2>/dev/null); '
        f'case "$?:$r" in "0:{{"*"}}") printf %s "$r";; {_TOO_LATE}:*) {late};; *) {clock.format("t")}; '
        f'if [ $((${{t%.*}}-${{s%.*}})) -gt {_AGAIN_SECONDS} ]; then {lost}; else printf %s "$p" | {client}; fi;; esac'
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
