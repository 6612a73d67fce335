"""What is configured about one MCP server."""

from msgspec import Struct, field


class McpServerConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[mcp.NAME]` of config.toml, with `name` added: `command` with `env`, or `url` with `headers`.

    `command` is an argv. Its process sees PATH, HOME and the few others that every program needs, and `env`; not the host's
    whole environment, in which there are keys. `url` is a streamable HTTP endpoint.
    """

    name: str
    command: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ValueError, which msgspec reports as a validation error of the table."""
        if bool(self.command) == bool(self.url):
            found = "both" if self.url else "neither"
            raise ValueError(f"exactly one of `command` and `url` is allowed, found {found}")
        if self.url and self.env:
            raise ValueError("`env` belongs to a `command`, found it with a `url`")
        if self.command and self.headers:
            raise ValueError("`headers` belong to a `url`, found them with a `command`")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"`url` must begin with http:// or https://, found {self.url!r}")
