"""protect-tool: a call that names a protected path is refused, whatever the key is called."""

from typing import Any

import pytest

from tests.shipped_hooks.conftest import ShippedRig

PROTECT = {"protect": ["secrets/**", ".env", "**/*.pem", "/etc/**", "~/.ssh/**"]}
REFUSED: list[tuple[str, Any]] = [
    ("write", {"path": ".env", "content": "x"}),
    ("write", {"path": "./.env", "content": "x"}),
    ("write", {"path": "sub/../.env", "content": "x"}),
    ("write", {"path": "secrets/a/b", "content": "x"}),
    ("write", {"path": "deep/in/here/a.pem", "content": "x"}),
    ("write", {"path": "/etc/passwd", "content": "x"}),
    ("write", {"path": "/somewhere/secrets/key", "content": "x"}),
    ("write", {"path": "~/.ssh/id", "content": "x"}),
    ("write", {"path": "/home/dev/.ssh/id", "content": "x"}),
    ("write", {"path": "../x/.env", "content": "x"}),
    ("edit", {"path": ".env", "old": "a", "new": "b"}),
    ("write", '{"path":"a","path":".env","content":"x"}'),
    ("write", '{"path":".env","path":"a","content":"x"}'),
    ("write", '{"path":"\\u002eenv","content":"x"}'),
    ("write", '{"\\u0070ath":".env"}'),
    ("move_file", {"source": "a", "destination": ".env"}),
    ("delete", {"files": ["a", {"name": ".env"}]}),
    ("delete", {"files": {".env": True}}),
    ("delete", {"uri": "file:///etc/passwd"}),
    ("write", "{"),
    ("write", "not JSON"),
    ("write", "[" * 100 + "]" * 100),
]
PASSES: list[tuple[str, Any]] = [
    ("read", {"path": ".env"}),
    ("grep", {"pattern": "x", "path": "secrets"}),
    ("write", {"path": "notes.md", "content": ".env"}),
    ("edit", {"path": "notes.md", "old": ".env", "new": "secrets/key"}),
    ("write", {"path": ".environment", "content": ""}),
    ("write", {"path": "sub/.env", "content": ""}),
    ("note", {"text": "line\n.env"}),
    ("add", {"a": 1, "b": None, "c": [True, -1.5e3]}),
    ("add", {}),
]


@pytest.fixture
async def guard(rig: ShippedRig) -> ShippedRig:
    rig.ship("protect-tool", config=PROTECT)
    await rig.start()
    return rig


async def test_what_names_a_protected_path_is_refused(guard: ShippedRig) -> None:
    assert [call for call in REFUSED if await guard.tool(*call) is None] == []


async def test_what_does_not_passes(guard: ShippedRig) -> None:
    assert [(call, reason) for call in PASSES if (reason := await guard.tool(*call)) is not None] == []


async def test_the_reason_names_the_path(guard: ShippedRig) -> None:
    assert await guard.tool("write", {"path": "secrets/key"}) == "protect-tool: secrets/key is protected"


async def test_the_workdir_tells_what_an_absolute_path_is(rig: ShippedRig) -> None:
    rig.ship("protect-tool", config={"protect": ["secrets/**"], "workdir": "/work/nest", "home": "/home/dev"})
    await rig.start()

    assert await rig.tool("write", {"path": "/work/nest/secrets/key"}) is not None
    assert await rig.tool("write", {"path": "../nest/secrets/key"}) is not None
    assert await rig.tool("write", {"path": "/elsewhere/secrets/key"}) is None
    assert await rig.tool("write", {"path": "../x"}) is None


UNUSABLE = [
    None,
    {},
    {"protect": []},
    {"protect": "secrets"},
    {"protect": [1]},
    {"protect": [""]},
    {"protect": ["."]},
    {"protect": ["../x"]},
    {"protect": ["[ab]"]},
    {"protect": ["{a,b}"]},
    {"protect": ["a"], "more": 1},
    {"protect": ["a"], "workdir": "relative"},
    {"protect": ["a"], "home": 1},
    {"protect": ["x" * 2000]},
    {"protect": ["a"] * 65},
]


@pytest.mark.parametrize("hook", ["protect-tool", "protect-shell"])
@pytest.mark.parametrize("config", UNUSABLE)
async def test_an_unusable_configuration_refuses_every_call(rig: ShippedRig, hook: str, config: dict[str, Any] | None) -> None:
    rig.ship(hook, config=config)
    await rig.start()

    for _ in range(2):
        reason = await (rig.tool("read", {"path": "x"}) if hook == "protect-tool" else rig.bash("ls"))
        assert reason is not None
        assert reason.startswith(f"{hook}: its configuration cannot be used: ")
