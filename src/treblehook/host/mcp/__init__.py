"""The tools of MCP servers live here: their processes and connections, one task for each; reading the configuration file may not.

`servers.py` is what a host holds, `server.py` the life of one server. The client library is loaded with the first server.
"""

from treblehook.host.mcp.config import McpServerConfig
from treblehook.host.mcp.servers import McpServers, tool_prefix

__all__ = ["McpServerConfig", "McpServers", "tool_prefix"]
