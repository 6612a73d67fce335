-- Runs the tools of every session that has a workspace in a container, one for each workspace.
--
-- One handler per tool serves all sessions: which container a call belongs to is looked up by `ctx.session_id`.

local containers = require("containers")
local tools = require("tools")

local NAMES = { "bash", "read", "write", "edit", "glob", "grep" }

-- Without this, a session whose container is gone would quietly use the host.
cru.require_isolation({ tools = NAMES, reason = "the oci plugin runs tools in containers only" })

for _, name in ipairs(NAMES) do
  local run = tools[name]
  cru.on("pre_tool_call", { pattern = name, priority = 10 }, function(ctx, event)
    local container = containers.of(ctx.session_id)
    if not container then
      return
    end
    return { handled = true, result = cru.json.encode(run(container, event.args)) }
  end)
end

-- Raising refuses the session: it must not start without its container.
cru.on_session_start(function(session)
  if session.workspace then
    containers.acquire(session.id, session.workspace)
  else
    cru.log("warn", "session " .. session.id .. " has no workspace, so it gets no container and its tools are refused")
  end
end, { required = true })

cru.on_session_end(function(session)
  containers.release(session.id)
end)

return {
  name = "oci",
  version = "1.0.0",
  setup = containers.configure,
}
