"""The command client: a hook call from standard input to the daemon of a home, its answer to standard output.

An agent waits for it at every tool call, so it runs as a file of its own (`python -S -E client.py AGENT EVENT POLICY SOCKET HOME`) and
imports only what the interpreter has in it. Where nobody answers it hands over to `slow.py`. Exit status 0 with the answer, or without
one where POLICY is `open` or `shown`; 2 where it is `closed`: agents take that, with a word on standard error, for a denial. `shown` is
an `open` whose word agents show their user.
"""

import _signal  # type: ignore[import-not-found]  # no stub has it, and `signal` loads more than all else here
import _socket
import posix
import sys

SECONDS = 110.0
"""How long the daemon may take; the agent waits longer (`gateway/lines.py`)."""

WHOLE_SECONDS = 115
"""After so long the system ends this process, whatever it is at by then: a call may have waited for one daemon, for the start of another,
and for that one's hooks, and the agent lets pass what takes longer than it waits."""

_UNANSWERED = "no answer of the gateway can be had"


class NoAnswer(Exception):
    """There is no daemon to ask, or what answers is not ours. With `late` the time is up, and nobody else can be asked."""

    def __init__(self, why: str, *, late: bool = False) -> None:
        super().__init__(why)
        self.late = late


def main(arguments: list[str]) -> int:
    """Answers the exit status."""
    agent, event, policy, path, _ = arguments
    # It goes on for what this process becomes.
    _signal.alarm(WHOLE_SECONDS)
    try:
        body = read_all(0)
        try:
            answer = ask(path, agent, event, body)
        except NoAnswer as nobody:
            if nobody.late:
                return give_up(policy, str(nobody))
            return _hand_over(arguments, body)
    except (OSError, MemoryError) as error:
        # An agent takes any other exit status than 2 for an allowance.
        return give_up(policy, f"{_UNANSWERED}: {type(error).__name__}: {error}")
    write_all(1, answer)
    return 0


def ask(path: str, agent: str, event: str, body: bytes) -> bytes:
    """The daemon's answer. Raises `NoAnswer`."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(SECONDS)
        connection.connect(path)
        _check_peer(connection, path)
        head = f"POST /hooks/{agent}?event={event} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    except TimeoutError:
        raise NoAnswer(f"{_UNANSWERED} within {SECONDS:g} s", late=True) from None
    except OSError as error:
        raise NoAnswer(f"{_UNANSWERED}: {error}") from error
    finally:
        connection.close()
    return _body(b"".join(parts))


def _check_peer(connection: _socket.socket, path: str) -> None:
    """Only this user's own daemon is believed. Raises `NoAnswer`."""
    if sys.platform == "linux":
        # struct ucred: pid, uid, gid
        found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        user = int.from_bytes(found[4:8], sys.byteorder)
    else:
        user = posix.stat(path).st_uid
    if user != posix.getuid():
        raise NoAnswer(f"{path} is served by user {user}, not by this one")


def _body(response: bytes) -> bytes:
    """What a whole 200 holds. Raises `NoAnswer`."""
    head, found, body = response.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    lengths = [line[15:].strip() for line in lines if line[:15].lower() == b"content-length:"]
    if not found or lines[0][:13] != b"HTTP/1.1 200 " or lengths != [b"%d" % len(body)]:
        raise NoAnswer(f"{_UNANSWERED}: it said {lines[0][:60].decode('latin-1') or 'nothing'}")
    if body[:1] != b"{" or body[-1:] != b"}":
        # Agents take other text for an allowance.
        raise NoAnswer(f"{_UNANSWERED}: it said {body[:60].decode('latin-1') or 'nothing'}")
    return body


def give_up(policy: str, why: str) -> int:
    """Say what became of the call; the exit status that stands for `policy`."""
    end = "the call is denied" if policy == "closed" else "the hooks were not asked"
    write_all(2, f"treblehook: {why}; {end}\n".encode())
    if policy == "shown":
        # It is rare enough for an import that takes its time.
        import json

        write_all(1, json.dumps({"systemMessage": f"treblehook: {why}; {end}"}).encode())
    return 2 if policy == "closed" else 0


def _hand_over(arguments: list[str], body: bytes) -> int:
    """Become the process that starts the daemon, or asks the hooks itself. The agent's own folder is not searched for modules."""
    reading, writing = posix.pipe()
    if posix.fork() == 0:
        # What has been read is written again for whoever reads next, however long it is.
        posix.close(reading)
        try:
            write_all(writing, body)
        finally:
            posix._exit(0)
    posix.close(writing)
    posix.dup2(reading, 0)
    program = sys.executable
    posix.execv(program, [program, "-I", "-m", "treblehook.gateway.client.slow", *arguments])


def read_all(descriptor: int) -> bytes:
    """Everything up to its end."""
    parts = []
    while part := posix.read(descriptor, 65536):
        parts.append(part)
    return b"".join(parts)


def write_all(descriptor: int, content: bytes) -> None:
    """All of it."""
    while content:
        content = content[posix.write(descriptor, content) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
