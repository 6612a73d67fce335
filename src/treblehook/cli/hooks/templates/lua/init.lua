local guarded = "treasure"

cru.on("pre_tool_call", { pattern = "bash", priority = 5 }, function(ctx, event)
  local command = tostring(event.args.command)
  if command:find("rm ", 1, true) and command:find(guarded, 1, true) then
    return { cancel = true, reason = "Leave the " .. guarded .. " where it is." }
  end
end)

cru.on("transform_context", function(ctx, event)
  table.insert(event.messages, 1, {
    role = "system",
    content = "The " .. guarded .. " is guarded: it may be looked at, not deleted.",
  })
  return { messages = event.messages }
end)

return {
  name = "NAME",
  version = "0.1.0",
  setup = function(cfg)
    guarded = cfg.guarded or guarded
  end,
}
