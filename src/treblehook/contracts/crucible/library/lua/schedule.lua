-- cru.schedule({every = seconds}, fn) and cru.schedule.cancel(handle).
local start, cancel = ...

return setmetatable({ cancel = cancel }, {
  __call = function(_, ...)
    return start(...)
  end,
})
