"""What every host of hooks shares lives here, the one path of a tool call above all; no agent loop and no contract may.

With it are the built-in tools, MCP servers, and the protocols through which hooks reach a host.

`calls.py` is the path (rows 10 to 17 of the lifecycle), `tool.py` what a tool is, `problems.py` how a bad configuration is told,
`agents.py` where other agents keep theirs, `protected/` what no call changes unasked.
"""
