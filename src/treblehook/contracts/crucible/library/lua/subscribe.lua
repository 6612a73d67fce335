-- cru.sessions.subscribe(session, fn): returns a function that ends it.
local subscribe, unsubscribe = ...

return function(...)
  local id = subscribe(...)
  return function()
    unsubscribe(id)
  end
end
