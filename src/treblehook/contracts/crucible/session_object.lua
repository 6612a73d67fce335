-- Calls a lifecycle hook with its `session`: fields that can be read and not set, and a name that is no field raises.
local KNOWN = { start = { id = true, workspace = true }, ["end"] = { id = true, workspace = true, end_reason = true } }

local function session(fields, known)
  return setmetatable({}, {
    __name = "session",
    __metatable = "session",
    __index = function(_, name)
      if not known[name] then error("session has no property `" .. tostring(name) .. "`", 2) end
      return fields[name]
    end,
    __newindex = function(_, name)
      if not known[name] then error("session has no property `" .. tostring(name) .. "`", 2) end
      error("session." .. name .. " is read-only", 2)
    end,
    __pairs = function() return next, fields, nil end,
  })
end

return function(hook, fields, which)
  hook(session(fields, KNOWN[which]))
end
