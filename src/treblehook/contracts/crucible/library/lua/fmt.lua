-- cru.fmt("Hello {name}", {name = "world"}), and the table that holds its sisters.
local fill = ...

return setmetatable({}, {
  __call = function(_, ...)
    return fill(...)
  end,
})
