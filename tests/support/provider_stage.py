"""The real command against the scripted model server, spoken to over one provider's protocol, and what that server was sent."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.command_run import COMMAND, Stage
from tests.support.fake_model import FakeModel

Item = tuple[Any, ...]


class Sent(NamedTuple):
    """One request, in the same words for every provider.

    `items` is the conversation flattened: ("user", text), ("assistant", text), ("call", tool, input), ("result", text). `failed`
    holds the results that were marked as errors, None where the protocol has no mark for that.
    """

    model: str
    system: str
    tools: list[str]
    items: list[Item]
    failed: list[str] | None


class ProviderStage(Stage):
    """A stage whose model is `WORD:model-1` at the scripted server."""

    def __init__(self, folder: Path, word: str, start: Callable[[object], FakeModel]) -> None:
        super().__init__(folder)
        self.word = word
        self.fake = start({"turns": []})
        self.spec = f"{word}:model-1"

    def plays(self, *turns: dict[str, Any], **more: Any) -> None:
        """What the model says, turn by turn."""
        super().plays(*turns, **more)
        if hasattr(self, "fake"):
            self.fake.play({"turns": turns, **more})

    def arguments(self, *arguments: str) -> list[str]:
        """A command line with this home, workspace and model."""
        places = ["--home", str(self.home.folder), "--workspace", str(self.workspace), "--model", self.spec]
        return [*COMMAND, arguments[0], *places, *arguments[1:]]

    def environment(self, **more: str) -> dict[str, str]:
        """The addresses and keys of every provider lead to the server."""
        return super().environment(**{**self.fake.environ, **more})

    def sent(self) -> list[Sent]:
        """Every request so far, the oldest first."""
        return [_READERS[request["proto"]](request["path"], request["body"]) for request in self.fake.requests()]


def _anthropic(path: str, body: dict[str, Any]) -> Sent:
    items: list[Item] = []
    failed: list[str] = []
    for message in body["messages"]:
        for block in message["content"]:
            match block["type"]:
                case "text":
                    items.append((message["role"], block["text"]))
                case "tool_use":
                    items.append(("call", block["name"], block["input"]))
                case "tool_result":
                    text = "".join(part["text"] for part in block["content"])
                    items.append(("result", text))
                    failed += [text] if block["is_error"] else []
    system = "".join(block["text"] for block in body.get("system", []))
    return Sent(body["model"], system, [tool["name"] for tool in body.get("tools", [])], items, failed)


def _chat(path: str, body: dict[str, Any]) -> Sent:
    items: list[Item] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            items.append(("result", message["content"]))
        elif message["role"] != "system":
            items += [(message["role"], message["content"])] if message.get("content") else []
        items += [("call", call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls", [])]
    system = "".join(message["content"] for message in body["messages"] if message["role"] == "system")
    return Sent(body["model"], system, [tool["function"]["name"] for tool in body.get("tools", [])], items, None)


def _responses(path: str, body: dict[str, Any]) -> Sent:
    items: list[Item] = []
    system = body.get("instructions") or ""
    for item in body["input"]:
        match item.get("type", "message"):
            case "function_call":
                items.append(("call", item["name"], json.loads(item["arguments"])))
            case "function_call_output":
                items.append(("result", item["output"]))
            case "message" if item["role"] == "system":
                system += item["content"]
            case "message":
                content = item["content"]
                items.append((item["role"], content if isinstance(content, str) else "".join(part["text"] for part in content)))
    return Sent(body["model"], system, [tool["name"] for tool in body.get("tools", [])], items, None)


def _gemini(path: str, body: dict[str, Any]) -> Sent:
    items: list[Item] = []
    failed: list[str] = []
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                items.append(("call", part["functionCall"]["name"], part["functionCall"].get("args") or {}))
            elif "functionResponse" in part:
                ((kind, text),) = part["functionResponse"]["response"].items()
                items.append(("result", text))
                failed += [text] if kind == "error" else []
            else:
                items.append(({"model": "assistant"}.get(content["role"], content["role"]), part["text"]))
    tools = [declared["name"] for tool in body.get("tools", []) for declared in tool["functionDeclarations"]]
    system = "".join(part["text"] for part in body.get("systemInstruction", {"parts": []})["parts"])
    model = re.search(r"models/([^:]+):", path)
    assert model is not None
    return Sent(model[1], system, tools, items, failed)


_READERS: dict[str, Callable[[str, dict[str, Any]], Sent]] = {
    "anthropic": _anthropic,
    "chat": _chat,
    "responses": _responses,
    "gemini": _gemini,
}
