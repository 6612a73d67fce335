"""How an executable is run, and how what it leaves is read (vera.md 6; cases 180 to 189)."""

import asyncio
import os

import pytest

from tests.support.clock import Clock
from tests.support.processes import until
from tests.support.sample_events import proposed
from tests.support.vera_home import VeraHome, big, reason, says
from treblehook.contracts.vera.json_text import TRIMMED
from treblehook.engine import Ended, HookTimedOut
from treblehook.lifecycle import Block, ToolCall

SAYS_OBSERVE = 'echo \'{"power":"observe"}\''


async def test_case_180_a_hook_need_not_read_its_input(home: VeraHome) -> None:
    home.hook("pre_tool_use", "deaf", f"exec <&-; {SAYS_OBSERVE}")

    outcome = await home.fire(proposed())

    assert (outcome.decision, outcome.failure) == (None, None)


async def test_case_181_nor_a_big_one(home: VeraHome) -> None:
    home.hook("pre_tool_use", "deaf", SAYS_OBSERVE)

    outcome = await home.fire(proposed(ToolCall("c", "bash", {"command": "x" * 200_000})))

    assert (outcome.decision, outcome.failure) == (None, None)


async def test_case_182_a_child_that_holds_stdout_runs_into_the_timeout(home: VeraHome, clock: Clock) -> None:
    home.hook("pre_tool_use", "forks", f'sleep 600 & {SAYS_OBSERVE}; touch "$0.started"', timeout_ms=1000)

    async def pass_time() -> None:
        await until((home.hooks / "forks.started").exists)
        await clock.advance(1.0)

    outcome, _ = await asyncio.gather(home.fire(proposed()), pass_time())

    assert HookTimedOut(1.0).message in reason(outcome)


async def test_case_184_bytes_that_are_not_utf8_are_replaced(home: VeraHome) -> None:
    home.hook("pre_tool_use", "old", b'{"power":"block","reason":"caf\xe9"}')

    assert (await home.fire(proposed())).decision == Block("caf\ufffd")


async def test_case_185_a_byte_order_mark_is_trimmed(home: VeraHome) -> None:
    home.hook("pre_tool_use", "bom", b'\xef\xbb\xbf{"power":"observe"}')

    assert (await home.fire(proposed())).failure is None


async def test_what_javascript_trims_is_trimmed(home: VeraHome) -> None:
    home.hook("pre_tool_use", "wide", f'{TRIMMED}{{"power":"observe"}}{TRIMMED}'.encode())

    assert (await home.fire(proposed())).failure is None


@pytest.mark.parametrize("extra", ["\x85", "\x1c", "\u180e", "\u200b", "\x00"])
async def test_what_javascript_does_not_trim_is_not(home: VeraHome, extra: str) -> None:
    home.hook("pre_tool_use", "wide", f'{{"power":"observe"}}{extra}'.encode())

    assert "did not print one JSON value" in reason(await home.fire(proposed()))


async def test_case_186_stdout_is_bounded(home: VeraHome) -> None:
    home.hook("pre_tool_use", "most", big(65_536, {"power": "observe"}))
    assert (await home.fire(proposed())).failure is None

    home.hook("pre_tool_use", "more", big(65_537, {"power": "observe"}))
    assert (await home.fire(proposed())).failure == "printed more than 65536 bytes"


async def test_case_188_a_file_that_is_no_program_fails(home: VeraHome) -> None:
    home.script("plain", SAYS_OBSERVE, mode=0o644)
    home.hook("pre_tool_use", "plain")
    session = home.session()
    assert reason(await session.fire(proposed())) == "pre_tool_use hook plain failed: was not started: it is not executable (chmod +x)"
    assert [call.ended for call in session.calls] == [Ended.NOT_STARTED]

    (home.hooks / "plain").chmod(0o755)
    (home.hooks / "plain").write_text(SAYS_OBSERVE)
    assert "nor a script that begins with #!" in reason(await home.fire(proposed()))


async def test_a_folder_is_no_program(home: VeraHome) -> None:
    (home.hooks / "folder").mkdir()
    home.hook("pre_tool_use", "folder")

    assert "it is a directory" in reason(await home.fire(proposed()))


async def test_case_189_the_working_directory_is_the_hosts(home: VeraHome) -> None:
    home.hook("pre_tool_use", "where", 'cat >/dev/null; printf \'{"power":"block","reason":"%s"}\' "$(pwd -P)"')

    assert (await home.fire(proposed())).decision == Block(os.getcwd())


async def test_the_environment_is_the_hosts(home: VeraHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEST", "third palm")
    home.hook("pre_tool_use", "env", 'cat >/dev/null; printf \'{"power":"block","reason":"%s%s"}\' "$NEST" "$CLAUDE_PROJECT_DIR"')

    assert (await home.fire(proposed())).decision == Block("third palm")


async def test_the_payload_is_compact_utf8_without_a_line_end(home: VeraHome) -> None:
    home.hook("pre_tool_use", "raw", f'cat > "$0.raw"; {SAYS_OBSERVE}')

    await home.fire(proposed(ToolCall("c", "bash", {"command": "é\u2028\ud800\n"})))

    sent = (home.hooks / "raw.raw").read_bytes()
    assert sent.startswith(
        b'{"type":"pre_tool_use","toolCall":{"id":"c","name":"bash","input":{"command":"\xc3\xa9\xe2\x80\xa8\\ud800\\n"}}'
    )
    assert sent.endswith(b"}")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
async def test_an_input_that_is_not_json_is_not_sent(home: VeraHome, value: object) -> None:
    home.hook("pre_tool_use", "lookout", says({"power": "observe"}))

    assert "cannot be written as JSON" in reason(await home.fire(proposed(ToolCall("c", "bash", {"x": value}))))
    assert home.sent("lookout") == []


async def test_stderr_is_kept_for_people_and_not_for_the_model(home: VeraHome) -> None:
    home.hook("pre_tool_use", "noisy", "cat >/dev/null; echo half; echo 'Traceback: secret' >&2; exit 1")
    session = home.session()

    outcome = await session.fire(proposed())

    assert "secret" not in reason(outcome)
    assert session.calls[0].raw == "half\n\nTraceback: secret\n"


async def test_the_words_of_an_answer_are_kept(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", b' {"power":"observe"}\n')
    session = home.session()

    await session.fire(proposed())

    assert session.calls[0].raw == ' {"power":"observe"}\n'
