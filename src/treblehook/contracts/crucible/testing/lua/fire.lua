-- What a test does to its plugin: fire, session_start, session_end, call_tool, plugin, clock.

local fire_event, start_session, end_session, run_tool, load_plugin, reload_plugin, plugin_state, advance, now = ...

-- What each handler of cru.on returned, in the order in which they were entered.
local returned = {}

local function kept(handler)
  return function(...)
    local place = #returned + 1
    returned[place] = {}
    local answer = table.pack(handler(...))
    returned[place].value = answer[1]
    return table.unpack(answer, 1, answer.n)
  end
end

local on = cru.on

function cru.on(...)
  local arguments = table.pack(...)
  for place = 2, 3 do
    if type(arguments[place]) == "function" then
      arguments[place] = kept(arguments[place])
    end
  end
  return on(table.unpack(arguments, 1, arguments.n))
end

local function table_or_nothing(what, value)
  if value ~= nil and type(value) ~= "table" then
    error(what .. " is a table, found a " .. type(value), 3)
  end
  return value or {}
end

-- Fires an event of cru.on at everything that is registered. `options` are session_id and workspace.
function fire(name, fields, options)
  if type(name) ~= "string" then
    error("fire takes the name of an event, found a " .. type(name), 2)
  end
  local before = #returned
  local outcome = fire_event(name, table_or_nothing("an event", fields), table_or_nothing("the third argument of fire", options))
  for place, handler in ipairs(outcome.handlers) do
    local answer = returned[before + place]
    handler.returned = answer and answer.value
    if handler.class == "pass" and handler.returned ~= nil then
      handler.class = "ignored"
    end
  end
  return outcome
end

function session_start(session)
  return start_session(table_or_nothing("a session", session))
end

function session_end(session)
  return end_session(table_or_nothing("a session", session))
end

-- Calls a tool of the plugin; answers { content, is_error }.
function call_tool(name, arguments, options)
  return run_tool(name, table_or_nothing("the arguments of a tool", arguments), table_or_nothing("the third argument of call_tool", options))
end

plugin = {
  load = function(settings)
    return load_plugin(table_or_nothing("settings", settings))
  end,
  reload = reload_plugin,
  state = plugin_state,
}

clock = { advance = advance, now = now }

return fire
