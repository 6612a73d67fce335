"""Hooks that a user would write, in each of the forms that a home takes; put into the home of a `Guarded` agent."""

import json

from tests.real_agents.guarded import Guarded

_LUA = """\
cru.on("pre_tool_call", {{ pattern = {pattern} }}, function(ctx, event)
  {body}
end)
"""
_EXECUTABLE = """\
#!/usr/bin/env python3
import json
import sys

call = json.load(sys.stdin)["toolCall"]
guarded = call["name"] == "bash" and "treas" in call["input"]["command"]
print(json.dumps({{"power": "block", "reason": {reason!r}}} if guarded else {{"power": "observe"}}))
"""
_EXTENSION = """\
def activate(treblehook):
    def guard(payload):
        call = payload["toolCall"]
        guarded = call["name"] == "bash" and "treas" in call["input"]["command"]
        return {{"power": "block", "reason": {reason!r}}} if guarded else {{"power": "observe"}}

    treblehook.hooks.register_pre_tool_use(guard)
"""
_ANSWERS = """\
#!/bin/sh
cat > /dev/null
cat <<'END'
{answer}
END
"""


def lua_guard(guarded: Guarded, reason: str) -> None:
    """Closed: where it does not answer, the call is denied."""
    body = f'if event.args.command:find("treas") then return {{ cancel = true, reason = {json.dumps(reason)} }} end'
    guarded.write("init.lua", _LUA.format(pattern='"bash"', body=body))


def executable_guard(guarded: Guarded, reason: str) -> None:
    """Closed, as every executable before a tool is."""
    guarded.executable("pre_tool_use", "guard", _EXECUTABLE.format(reason=reason))


def extension_guard(guarded: Guarded, reason: str) -> None:
    """Open: an extension that does not answer has no opinion."""
    guarded.extension("guard", _EXTENSION.format(reason=reason), "pre_tool_use")


GUARDS = {"lua": lua_guard, "executable": executable_guard, "extension": extension_guard}
"""A guard of the shell, in each form."""


def crashing_lua(guarded: Guarded) -> None:
    """A guard that raises."""
    guarded.write("init.lua", _LUA.format(pattern='"bash"', body='error("the guard has crashed")'))


def crashing_executable(guarded: Guarded) -> None:
    """A guard that fails."""
    guarded.executable("pre_tool_use", "guard", "#!/bin/sh\ncat > /dev/null\nexit 7\n")


def late_executable(guarded: Guarded) -> None:
    """A guard that would let pass, after the time that it has."""
    script = _ANSWERS.format(answer='{"power": "observe"}').replace("cat > /dev/null", "cat > /dev/null\nsleep 60")
    guarded.executable("pre_tool_use", "guard", script, timeout_ms=300)


FAILING = {"lua crashes": crashing_lua, "executable crashes": crashing_executable, "executable is late": late_executable}
"""Closed guards that give no answer."""


def rewriter(guarded: Guarded, tool: str, **changed: str) -> None:
    """Keys of a tool's input, under our names, become others."""
    values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in changed.items())
    body = f"local args = event.args; for key, value in pairs({{ {values} }}) do args[key] = value end; return {{ args = args }}"
    guarded.write("init.lua", _LUA.format(pattern=json.dumps(tool), body=body))


def answers(guarded: Guarded, phase: str, answer: object) -> None:
    """An executable that always answers the same."""
    guarded.executable(phase, phase, _ANSWERS.format(answer=json.dumps(answer)))


def appends_to_results(guarded: Guarded, text: str) -> None:
    """What a tool says has one more line. In a plugin, since init.lua runs twice."""
    script = f'cru.on("tool_result", {{}}, function(ctx, event) return {{ result = event.result .. "\\n" .. {json.dumps(text)} }} end)\n'
    guarded.write("plugins/appending/init.lua", script)
