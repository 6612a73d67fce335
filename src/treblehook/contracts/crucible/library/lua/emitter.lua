-- cru.emitter.new(): events of a plugin's own. A listener that raises is logged, and the others still hear the event.
local check = ...

local Emitter = {}
Emitter.__index = Emitter

local function add(self, event, fn, once)
  self.last = self.last + 1
  local listeners = self.listeners[event] or {}
  self.listeners[event] = listeners
  listeners[#listeners + 1] = { id = self.last, fn = fn, once = once }
  return self.last
end

function Emitter:on(event, fn)
  check("emitter:on", event, fn)
  return add(self, event, fn, false)
end

function Emitter:once(event, fn)
  check("emitter:once", event, fn)
  return add(self, event, fn, true)
end

function Emitter:off(event, id)
  for place, listener in ipairs(self.listeners[event] or {}) do
    if listener.id == id then
      -- A new list: an emit that is under way keeps its own.
      local rest = table.move(self.listeners[event], 1, #self.listeners[event], 1, {})
      table.remove(rest, place)
      self.listeners[event] = rest
      return true
    end
  end
  return false
end

function Emitter:emit(event, ...)
  local listeners = table.move(self.listeners[event] or {}, 1, #(self.listeners[event] or {}), 1, {})
  for _, listener in ipairs(listeners) do
    if listener.once then
      self:off(event, listener.id)
    end
    local fine, problem = pcall(listener.fn, ...)
    if not fine then
      cru.log("error", problem)
    end
  end
end

return function()
  return setmetatable({ listeners = {}, last = 0 }, Emitter)
end
