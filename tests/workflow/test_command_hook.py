"""`CommandHook`: its checks and its process rules (vera.md 7.2)."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import alive
from treblehook.workflow import CommandHook, WorkflowError

PAYLOAD = {"type": "pre_step", "step": "dig"}


@pytest.fixture
def script(tmp_path: Path) -> Any:
    def write(body: str, **options: Any) -> CommandHook:
        path = tmp_path / "hook"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return CommandHook([str(path)], **{"timeout_ms": 30_000, **options})

    return write


def failure(hook: CommandHook, payload: dict[str, Any] | None = None) -> str:
    with pytest.raises(WorkflowError) as error:
        hook(payload or PAYLOAD)
    assert error.value.kind == "hook"
    return error.value.message


def test_payload_in_answer_out(script: Any, tmp_path: Path) -> None:
    hook = script(f'cat > {tmp_path}/stdin; echo noise >&2; echo \' {{"power":"observe"}} \'')

    assert hook(PAYLOAD) == {"power": "observe"}
    assert (tmp_path / "stdin").read_text() == json.dumps(PAYLOAD, separators=(",", ":"))


def test_a_name_is_looked_up_on_the_path() -> None:
    assert CommandHook(["echo", '{"power":"observe"}'])(PAYLOAD) == {"power": "observe"}


@pytest.mark.parametrize("argv", [[], "hook", ["a"] * 17, ["a", ""], ["a", 5], ["a", None], ["x" * 8189], ["a", "\N{PARROT}" * 2100]])
def test_an_argv_over_its_limits(argv: Any) -> None:
    with pytest.raises(ValueError, match="argv"):
        CommandHook(argv)


@pytest.mark.parametrize("argv", [["a"] * 16, ["x" * 8188], ("a", "b")])
def test_an_argv_at_its_limits(argv: Any) -> None:
    assert CommandHook(argv).argv == tuple(argv)


@pytest.mark.parametrize("timeout_ms", [0, -1, 30_001, 1.5, 1000.0, "1000", None, True])
def test_a_timeout_out_of_bounds(timeout_ms: Any) -> None:
    with pytest.raises(ValueError, match="timeout_ms"):
        CommandHook(["a"], timeout_ms=timeout_ms)


def test_timeouts_in_bounds() -> None:
    assert [CommandHook(["a"], timeout_ms=ms).timeout_ms for ms in (1, 30_000)] == [1, 30_000]
    assert CommandHook(["a"]).timeout_ms == 1000


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("exit 3", "status 3"),
        ('echo \'{"power":"observe"}\'; exit 1', "status 1"),
        ("kill -9 $$", "status -9"),
        ("true", "one JSON value"),
        ("echo nonsense", "one JSON value"),
        ("echo '{} {}'", "one JSON value"),
        ("echo NaN", "one JSON value"),
        ("printf '\"\\377\"'", "one JSON value"),
        ("head -c 65537 /dev/zero", "65536 bytes"),
    ],
)
def test_runs_that_fail(script: Any, body: str, told: str) -> None:
    assert told in failure(script(body))


def test_answers_up_to_64_kib(script: Any, tmp_path: Path) -> None:
    (tmp_path / "out").write_text(json.dumps("x" * 65_534))

    assert len(script(f"cat {tmp_path}/out")(PAYLOAD)) == 65_534


def test_a_payload_over_256_kib_starts_nothing(script: Any, tmp_path: Path) -> None:
    hook = script(f"touch {tmp_path}/started; echo '{{}}'")

    assert "262144" in failure(hook, {"text": "x" * 262_144})
    assert not (tmp_path / "started").exists()


def test_a_payload_that_nobody_reads_is_no_failure(script: Any) -> None:
    assert script('exec <&-; echo \'{"power":"observe"}\'')({"text": "x" * 200_000}) == {"power": "observe"}


def test_a_program_that_there_is_not() -> None:
    assert "not started" in failure(CommandHook(["a-program-that-nobody-has"]))


def test_at_its_timeout_it_is_killed_even_if_it_heeds_no_signal(script: Any, tmp_path: Path) -> None:
    hook = script(f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.01; done", timeout_ms=2000)

    assert "2 s" in failure(hook)
    assert not alive(int((tmp_path / "pid").read_text()))
