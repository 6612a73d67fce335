"""From what an agent was seen to give, through the plugin and the codec, to what the agent was seen to honour."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.gateway.plugins.conftest import Daemon, Plugin
from tests.gateway.samples import CAPTURES
from treblehook.gateway.agents import codec_of
from treblehook.gateway.values import (
    AddText,
    Answer,
    Arrived,
    AskUser,
    CallComing,
    CallDone,
    GoOn,
    Other,
    Patched,
    PromptGiven,
    Refused,
    RunRewritten,
    Starting,
    Stopping,
)

ECHO = {"command": "echo treasure > mark; cat mark"}


def answers(daemon: Daemon, agent: str, answer: Answer) -> list[Arrived]:
    """Let a daemon answer as the gateway would, with one and the same answer of the hooks; gives back the list of what arrives."""
    codec, arrived = codec_of(agent), list[Arrived]()

    def reply(handler: BaseHTTPRequestHandler) -> None:
        event = parse_qs(urlsplit(daemon.targets[-1]).query)["event"][0]
        arrived.append(codec.decode(event, daemon.calls[-1]))
        daemon.answer = codec.encode(arrived[-1], answer)
        daemon.reply(handler)
        daemon.answer = reply

    daemon.answer = reply
    return arrived


def capture(agent: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CAPTURES / agent / f"{name}.json").read_text())
    return found


class TestOpenCode:
    @pytest.fixture
    def agent(self) -> str:
        return "opencode"

    def run(self, plugin: Plugin, *names: str) -> list[dict[str, Any]]:
        """`event_TYPE` is what the hook `event` is given."""
        steps = [{"hook": "event" if name.startswith("event_") else name, **capture("opencode", name)} for name in names]
        return plugin.run(*steps)

    def test_every_capture_arrives_as_what_it_means(self, plugin: Plugin, daemon: Daemon) -> None:
        arrived = answers(daemon, "opencode", Refused("R"))
        said = ("experimental.text.complete", "event_session.idle")
        known = {"chat.message", "tool.execute.before", "tool.execute.after", "config"}
        names = sorted({file.stem for file in (CAPTURES / "opencode").glob("*.json")}.difference(said))

        self.run(plugin, *[name for name in names if name in known or name.startswith("event_")], *said)

        whats = {one.event: one.what for one in arrived}
        assert whats["chat.message"] == PromptGiven('"Do the thing."')
        assert whats["session.idle"] == Stopping("Found it.")
        assert isinstance(whats["tool.execute.before"], CallComing)
        assert isinstance(whats["tool.execute.after"], CallDone)
        assert not any(isinstance(what, Other) for what in whats.values())
        assert {one.session for one in arrived} == {"sess_0001"}

    def test_a_refusal_is_thrown(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "opencode", Refused("R"))

        assert [one["threw"] for one in self.run(plugin, "tool.execute.before", "chat.message")] == ["R", "R"]

    def test_a_rewrite_is_in_the_object_that_opencode_has(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "opencode", RunRewritten({"command": "ls", "timeout_ms": 5}))

        [ran] = self.run(plugin, "tool.execute.before")

        assert (ran["output"]["args"], ran["same"]) == ({"command": "ls", "timeout": 5}, True)

    def test_a_question_is_thrown(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "opencode", AskUser("Really?"))

        assert self.run(plugin, "tool.execute.before")[0]["threw"].startswith("Really? OpenCode lets no hook ask")

    def test_a_patch_and_an_error(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "opencode", Patched("new", is_error=False))
        assert self.run(plugin, "tool.execute.after")[0]["output"]["output"] == "new"

        answers(daemon, "opencode", Patched("bad", is_error=True))
        assert self.run(plugin, "tool.execute.after")[0]["threw"] == "bad"

    def test_context_is_in_the_prompt(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "opencode", AddText("C"))

        assert "<hook_context>\nC\n</hook_context>" in self.run(plugin, "chat.message")[0]["output"]["parts"][0]["text"]


class TestPi:
    @pytest.fixture
    def agent(self) -> str:
        return "pi"

    def run(self, plugin: Plugin, *names: str, **how: bool) -> list[dict[str, Any]]:
        return plugin.run(*({"event": capture("pi", name), **how} for name in names))

    def test_every_capture_arrives_as_what_it_means(self, plugin: Plugin, daemon: Daemon) -> None:
        arrived = answers(daemon, "pi", Refused("R"))
        names = sorted(file.stem for file in (CAPTURES / "pi").glob("*.json"))

        self.run(plugin, *[name for name in names if name in {hooked.name for hooked in codec_of("pi").hooked}])

        whats = {one.event: one.what for one in arrived}
        assert whats["input"] == PromptGiven("Do the thing.")
        assert whats["session_start"] == Starting("start")
        assert whats["agent_end"] == Stopping("Found it.")
        assert isinstance(whats["tool_result"], CallDone)
        assert not any(isinstance(what, Other) for what in whats.values())
        coming = whats["tool_call"]
        assert isinstance(coming, CallComing)
        assert coming.call.input == ECHO

    def test_a_refusal_blocks(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "pi", Refused("R"))

        coming, given = self.run(plugin, "tool_call", "input")

        assert coming["returned"] == {"block": True, "reason": "R"}
        assert given["returned"] == {"action": "handled"}

    def test_a_rewrite_is_in_the_object_that_pi_has(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "pi", RunRewritten({"command": "ls"}))

        [ran] = self.run(plugin, "tool_call")

        assert (ran["event"]["input"], ran["same"], ran["returned"]) == ({"command": "ls"}, True, None)

    def test_a_question_without_a_user_blocks(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "pi", AskUser("Really?"))

        assert self.run(plugin, "tool_call")[0]["returned"]["block"] is True
        assert self.run(plugin, "tool_call", hasUI=True, yes=True)[0]["returned"] is None

    def test_a_patch_is_returned(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "pi", Patched("new", is_error=True))

        assert self.run(plugin, "tool_result")[0]["returned"] == {"content": [{"type": "text", "text": "new"}], "isError": True}

    def test_context_is_a_message_and_the_model_is_sent_back(self, plugin: Plugin, daemon: Daemon) -> None:
        answers(daemon, "pi", AddText("C"))
        assert self.run(plugin, "input")[0]["said"][0][1]["content"] == "C"

        answers(daemon, "pi", GoOn("G"))
        assert self.run(plugin, "agent_end", hasUI=True)[0]["said"] == [["sendUserMessage", "G", {"deliverAs": "followUp"}]]
