"""What is checked when a session starts its hooks (vera.md 2.3; cases 18 to 20)."""

import json
from typing import Any

import pytest

from tests.support.vera_home import VeraHome
from treblehook.contracts.vera.config import load_config
from treblehook.contracts.vera.limits import over_limits
from treblehook.host.problems import ConfigInvalid, Problem


def refused(home: VeraHome) -> list[Problem]:
    with pytest.raises(ConfigInvalid) as raised:
        home.session()
    assert over_limits(load_config(home.config)) == list(raised.value.problems)
    return list(raised.value.problems)


def argv_of(home: VeraHome, size: int) -> list[str]:
    """An argv whose compact JSON has `size` bytes, the executable with its whole path."""
    path = str(home.hooks / "lookout")
    return [path, "x" * (size - len(json.dumps([path, ""], separators=(",", ":"))))]


async def test_case_018_a_timeout_over_the_limit_loads_and_no_session_starts(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", timeout_ms=30_001)

    (found,) = refused(home)

    assert (found.file, found.place) == (str(home.config), "hooks[0].timeout_ms")
    assert found.message == "found 30001; at most 30000 milliseconds are allowed"


async def test_the_longest_timeout_is_fine(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", timeout_ms=30_000)

    assert home.session().handlers[0].timeout == 30.0


async def test_sixteen_words_are_allowed(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", argv=["lookout", *"abcdefghijklmno"])
    home.session()
    home.hook("pre_tool_use", "lookout", argv=["lookout", *"abcdefghijklmnop"])

    (found,) = refused(home)

    assert found.place == "hooks[1].argv"
    assert found.message == "has 17 words; 16 are allowed, the executable counted in"


async def test_case_020_argv_has_at_most_8192_bytes(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", argv=argv_of(home, 8192))
    home.session()
    home.hook("pre_tool_use", "lookout", argv=argv_of(home, 8193))

    (found,) = refused(home)

    assert found.place == "hooks[1].argv"
    assert found.message == "has 8193 bytes as JSON; 8192 are allowed"


async def test_argv_is_counted_in_bytes_and_with_the_whole_path(home: VeraHome) -> None:
    home.hook("pre_tool_use", "lookout", argv=["lookout", "é" * 4080])

    (found,) = refused(home)

    assert str(home.hooks / "lookout") in found.remedy


@pytest.mark.parametrize("entry", [{"phase": "session_end"}, {"phase": "Stop", "protocol": "claude"}])
async def test_an_entry_of_any_phase_stops_every_session(home: VeraHome, entry: dict[str, Any]) -> None:
    home.entries.append({"argv": ["a"], "timeout_ms": 99_999, **entry})

    with pytest.raises(ConfigInvalid):
        home.session(spawned=True, awaited=True)
