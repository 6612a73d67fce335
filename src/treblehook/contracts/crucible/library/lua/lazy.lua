-- A module of `cru` comes into being when it is first looked at: most machines use few of them, and there may be a thousand machines.
local install, names = ...

return setmetatable(cru, {
  __index = function(self, name)
    install(name)
    return rawget(self, name)
  end,
  __pairs = function(self)
    for _, name in ipairs(names()) do
      local _ = self[name]
    end
    return next, self, nil
  end,
})
