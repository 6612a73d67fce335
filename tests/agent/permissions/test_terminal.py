"""Asking at a real (pseudo) terminal."""

import asyncio
import os
import subprocess
import sys
import termios
from collections.abc import Iterator

import pytest

from treblehook.agent.permissions import TerminalApprover, plain_question
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall

BASH = ToolSpec("bash", "", {}, main_argument="command", asks=True)
CALL = ToolCall("c1", "bash", {"command": "rm x"})


class Screen:
    """The user's side of a terminal; `open` gives the program's side."""

    def __init__(self) -> None:
        self._user, self._program = os.openpty()
        self.name = os.ttyname(self._program)
        self.opened = 0
        os.set_blocking(self._user, False)

    def open(self) -> int:
        self.opened += 1
        return os.open(self.name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

    def type(self, keys: str) -> None:
        os.write(self._user, keys.encode())

    async def shows(self, text: str) -> str:
        """What is on the screen, once `text` is; the test's time limit guards against waiting for ever."""
        shown = ""
        while text not in shown:
            try:
                shown += os.read(self._user, 65536).decode()
            except BlockingIOError:
                await asyncio.sleep(0.002)
        return shown

    def settings(self) -> list[object]:
        return list(termios.tcgetattr(self._program))

    def hang_up(self) -> None:
        os.close(self._user)
        os.close(self._program)
        self._user = self._program = -1

    def close(self) -> None:
        if self._user >= 0:
            self.hang_up()


@pytest.fixture
def screen() -> Iterator[Screen]:
    screen = Screen()
    yield screen
    screen.close()


def asking(approver: TerminalApprover, call: ToolCall = CALL, spec: ToolSpec = BASH) -> "asyncio.Task[bool]":
    return asyncio.create_task(approver.approve(call, spec))


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("Y", True), ("a", True), ("n", False), ("N", False)])
async def test_one_key_answers(screen: Screen, key: str, answer: bool) -> None:
    before = screen.settings()
    asked = asking(TerminalApprover(terminal=screen.open))
    shown = await screen.shows("no: ")

    screen.type(key)

    assert await asked is answer
    assert "bash: rm x" in shown
    assert screen.settings() == before


async def test_a_reason_is_shown_below_the_call(screen: Screen) -> None:
    asked = asyncio.create_task(TerminalApprover(terminal=screen.open).approve(CALL, BASH, "It is \x1b[1mprotected."))
    shown = await screen.shows("no: ")
    screen.type("n")

    assert not await asked
    assert "bash: rm x\r\n  | It is \\x1b[1mprotected.\r\n" in shown


@pytest.mark.parametrize(
    ("keys", "key", "answer"), [(["x", "\r", "\x1b[A", "\x1b[1;5C"], "y", True), (["yes please", "a lot", "ya"], "n", False)]
)
async def test_another_key_is_no_answer(screen: Screen, keys: list[str], key: str, answer: bool) -> None:
    asked = asking(TerminalApprover(terminal=screen.open))
    await screen.shows("no: ")

    for typed in keys:
        screen.type(typed)
    # Keys that arrive in one go count as one, so the last one is typed until it arrives alone.
    while not asked.done():
        screen.type(key)
        await asyncio.sleep(0.005)

    assert await asked is answer


async def test_what_was_typed_before_the_question_is_no_answer(screen: Screen) -> None:
    screen.type("y")
    # The terminal echoes what it has taken.
    await screen.shows("y")
    asked = asking(TerminalApprover(terminal=screen.open))
    await screen.shows("no: ")
    screen.type("n")

    assert not await asked


async def test_once_is_once_and_always_is_for_this_argument(screen: Screen) -> None:
    approver = TerminalApprover(terminal=screen.open)
    for key in ("y", "a"):
        asked = asking(approver)
        await screen.shows("no: ")
        screen.type(key)
        assert await asked

    assert await asking(approver)
    assert screen.opened == 2
    other = asking(approver, ToolCall("c2", "bash", {"command": "rm y"}))
    await screen.shows("rm y")
    screen.type("n")
    assert not await other


async def test_escape_denies_and_interrupts(screen: Screen) -> None:
    interrupted: list[bool] = []
    asked = asking(TerminalApprover(interrupt=lambda: interrupted.append(True), terminal=screen.open))
    await screen.shows("no: ")
    screen.type("\x1b")

    assert not await asked
    assert interrupted == [True]


async def test_cancelling_gives_the_terminal_back(screen: Screen) -> None:
    before = screen.settings()
    descriptors = set(os.listdir("/proc/self/fd"))
    approver = TerminalApprover(terminal=screen.open)
    asked = asking(approver)
    await screen.shows("no: ")
    assert screen.settings() != before

    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    assert screen.settings() == before
    assert set(os.listdir("/proc/self/fd")) == descriptors
    again = asking(approver)
    await screen.shows("no: ")
    screen.type("y")
    assert await again


async def test_prompts_come_one_after_the_other(screen: Screen) -> None:
    approver = TerminalApprover(terminal=screen.open)
    first = asking(approver)
    second = asking(approver, ToolCall("c2", "bash", {"command": "rm y"}))

    assert "rm y" not in await screen.shows("no: ")
    screen.type("y")
    assert await first
    await screen.shows("rm y")
    screen.type("n")
    assert not await second


async def test_always_answers_the_prompts_that_wait(screen: Screen) -> None:
    approver = TerminalApprover(terminal=screen.open)
    both = asyncio.gather(asking(approver), asking(approver))
    await screen.shows("no: ")
    screen.type("a")

    assert await both == [True, True]
    assert screen.opened == 1


async def test_a_terminal_that_hangs_up_denies(screen: Screen) -> None:
    asked = asking(TerminalApprover(terminal=screen.open))
    await screen.shows("no: ")
    screen.hang_up()

    assert not await asked


async def test_without_a_terminal_the_answer_is_no() -> None:
    assert not await TerminalApprover(terminal=lambda: None).approve(CALL, BASH)


async def test_a_long_question_is_shown_whole_and_blocks_nothing(screen: Screen) -> None:
    asked = asking(TerminalApprover(terminal=screen.open), ToolCall("c1", "bash", {"command": "x" * 200_000}))
    # The terminal holds a few thousand characters; until somebody looks, the loop goes on.
    for _ in range(5):
        await asyncio.sleep(0.001)

    shown = await screen.shows("no: ")

    assert shown.count("x") >= 200_000
    screen.type("y")
    assert await asked


def test_a_question_obeys_nothing_in_the_call() -> None:
    call = ToolCall("c1", "bash", {"command": "echo \x1b[2J\r\x07\nsecond\u202e"})

    assert plain_question(call, BASH) == "bash: echo \\x1b[2J\\r\\x07\nsecond\\u202e"


CHILD = """
import asyncio, fcntl, os, sys, termios
from treblehook.agent.permissions import TerminalApprover
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall

os.setsid()
if sys.argv[1] != "none":
    fcntl.ioctl(os.open(sys.argv[1], os.O_RDWR), termios.TIOCSCTTY, 0)
if sys.argv[2] == "background" and os.fork():
    os.wait()
    os._exit(0)
if sys.argv[2] == "background":
    os.setpgid(0, 0)
call, spec = ToolCall("c", "bash", {"command": "x"}), ToolSpec("bash", "", {}, main_argument="command")
print(asyncio.run(TerminalApprover().approve(call, spec)), flush=True)
"""


def child(terminal: str, how: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, terminal, how], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


async def finished(process: "subprocess.Popen[str]") -> str:
    output, errors = await asyncio.to_thread(process.communicate, timeout=60)
    assert errors == ""
    return output.strip()


async def test_the_terminal_of_the_process_is_found_behind_redirections(screen: Screen) -> None:
    process = child(screen.name, "foreground")
    await screen.shows("no: ")
    screen.type("y")

    assert await finished(process) == "True"


async def test_a_process_in_the_background_asks_nobody(screen: Screen) -> None:
    assert await finished(child(screen.name, "background")) == "False"


async def test_a_process_without_a_terminal_asks_nobody() -> None:
    assert await finished(child("none", "foreground")) == "False"


PLAIN = ToolSpec("mcp__box__open", "", {}, asks=True)


async def test_a_call_without_a_main_argument_is_shown_with_all_of_its_input(screen: Screen) -> None:
    asked = asking(TerminalApprover(terminal=screen.open), ToolCall("c1", PLAIN.name, {"lid": "\ud800\x1b[2J"}), PLAIN)

    shown = await screen.shows("no: ")

    assert '{"lid": "\\ud800\\u001b[2J"}' in shown
    screen.type("n")
    assert not await asked


async def test_always_covers_no_other_input_of_a_call_without_a_main_argument(screen: Screen) -> None:
    approver = TerminalApprover(terminal=screen.open)
    first = asking(approver, ToolCall("c1", PLAIN.name, {"lid": 1}), PLAIN)
    await screen.shows("no: ")
    screen.type("a")
    assert await first

    assert await approver.approve(ToolCall("c2", PLAIN.name, {"lid": 1}), PLAIN)
    other = asking(approver, ToolCall("c3", PLAIN.name, {"lid": 2}), PLAIN)
    await screen.shows("no: ")
    screen.type("n")
    assert not await other


async def test_no_call_draws_a_prompt_of_its_own(screen: Screen) -> None:
    command = "rm x\nbash: ls\n  [y] once   [a] always this session   [n] no: "
    asked = asking(TerminalApprover(terminal=screen.open), ToolCall("c1", "bash", {"command": command}))

    shown = await screen.shows("no: \r\n")

    assert "\n  | bash: ls" in shown
    assert "\nbash: ls" not in shown
    screen.type("n")
    assert not await asked
