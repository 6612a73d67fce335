"""A nest whose hooks are real Lua files: the user's, a plugin's, a workspace's; and what they said."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.support.nest import Nest, Record, opening_models
from treblehook.agent.session import Session
from treblehook.engine import Tier
from treblehook.home.profile import SessionWish
from treblehook.lifecycle import Message

Place = Literal["user", "plugin", "workspace"]
"""Where a file lies: `<home>/init.lua` as a session's own machine runs it, a plugin, a trusted workspace."""

TIERS = {"user": Tier.SESSION, "plugin": Tier.PLUGIN, "workspace": Tier.SESSION}
NAMES = {"user": "init.lua", "plugin": "digest", "workspace": "workspace init.lua"}
"""How each is named in logs and records."""

TELL = "local function tell(...) cru.log('info', 'TOLD ' .. cru.json.encode(cru.json.array({...}))) end "
IN_SESSION = "if cru.vm ~= 'session' then return end "


class LuaNest(Nest):
    """Code is written with `put`; in it `tell(...)` says something that `told` answers. Sessions trust their workspace."""

    def wish(self, **wish: Any) -> SessionWish:
        return super().wish(**{"trust": True, **wish})

    def put(self, where: Place, code: str, *, plugin: str = "digest") -> Path:
        """Write the file of one place; what `code` does starts in its first line."""
        if where == "plugin":
            return self.plugin(code, plugin)
        return self.user(IN_SESSION + TELL + code) if where == "user" else self.of_workspace(TELL + code)

    def user(self, code: str) -> Path:
        """`<home>/init.lua`, which both machines run."""
        return _written(self.folder / "init.lua", code)

    def plugin(self, code: str, name: str = "digest", **files: str) -> Path:
        """`<home>/plugins/NAME/init.lua`."""
        folder = self.folder / "plugins" / name
        for file, content in files.items():
            _written(folder / file, content)
        return _written(folder / "init.lua", TELL + code)

    def of_workspace(self, code: str) -> Path:
        """`<workspace>/.crucible/lua/init.lua`."""
        return _written(self.workspace / ".crucible" / "lua" / "init.lua", code)

    def lua_log(self) -> list[Record]:
        """The lines of lua.jsonl."""
        file = self.folder / "runtime" / "logs" / "lua.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def told(self) -> list[Any]:
        """What code told, in order: a list of the arguments each time, or the one argument."""
        said = [json.loads(line["text"][5:]) for line in self.lua_log() if line["text"].startswith("TOLD ")]
        return [one[0] if len(one) == 1 else one for one in said]

    @property
    def warnings(self) -> list[str]:
        """What is wrong with code, warnings and errors, each with whose it is in front."""
        return [f"{line['owner']}: {line['text']}" for line in self.lua_log() if line["level"] in ("warn", "error")]

    def results(self, session: Session | None = None) -> list[Record]:
        """What the model got for its calls."""
        return self.ears.of("tool_result", session.id if session else None)

    def hooks_of(self, session: Session, event: str) -> list[Record]:
        """The records of one event's hooks, from the session file."""
        return [record for record in self.stored(session) if record["type"] == "hook" and record["event"] == event]


def last_result(nest: Nest, request: int = -1) -> Message:
    """The newest tool result in what a provider was sent."""
    return [message for message in nest.queries[request].messages if message.role == "tool"][-1]


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
async def nest(tmp_path: Path) -> AsyncIterator[LuaNest]:
    nest = LuaNest(tmp_path)
    with opening_models(nest):
        yield nest
        await nest.close()
