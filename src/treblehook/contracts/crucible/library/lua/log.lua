-- cru.log(level, message): whatever it is given becomes a line; it never raises.
local write, load_text_of = ...
local text_of

return function(...)
  local level, message = ...
  if select("#", ...) == 1 then
    level, message = "info", level
  end
  if type(message) ~= "string" then
    -- Most messages are strings, and there may be a thousand machines.
    text_of = text_of or load_text_of()
    message = text_of(message)
  end
  write(type(level) == "string" and level or "info", message)
end
