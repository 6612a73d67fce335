"""What may be configured about an MCP server."""

from typing import Any

import msgspec
import pytest

from treblehook.host.mcp import McpServerConfig


def test_a_command_or_a_url() -> None:
    command = msgspec.convert({"name": "a", "command": ["npx", "x"], "env": {"K": "v"}}, McpServerConfig)
    url = msgspec.convert({"name": "b", "url": "https://example.org/mcp", "headers": {"K": "v"}}, McpServerConfig)

    assert command == McpServerConfig(name="a", command=("npx", "x"), env={"K": "v"})
    assert url == McpServerConfig(name="b", url="https://example.org/mcp", headers={"K": "v"})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "exactly one of `command` and `url` is allowed, found neither"),
        ({"command": []}, "exactly one of `command` and `url` is allowed, found neither"),
        ({"command": ["x"], "url": "http://x"}, "exactly one of `command` and `url` is allowed, found both"),
        ({"url": "http://x", "env": {"a": "b"}}, "`env` belongs to a `command`"),
        ({"command": ["x"], "headers": {"a": "b"}}, "`headers` belong to a `url`"),
        ({"url": "ftp://x"}, "`url` must begin with http:// or https://, found 'ftp://x'"),
        ({"command": "npx x"}, "Expected `array`, got `str` - at `$.command`"),
        ({"command": ["x"], "arguments": []}, "unknown field `arguments`"),
    ],
)
def test_anything_else_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert({"name": "a", **table}, McpServerConfig)

    assert message in str(caught.value)
