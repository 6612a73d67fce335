-- What the users' `debug` can do: look at the stack, and at nothing of the host on it. Loaded at the first need.
local T = ...
local type = type
local rawgetinfo, rawtraceback = T.rawgetinfo, T.rawtraceback

local function looked(info, by_function)
  if info and not by_function and (info.what == nil or info.what == "C" or info.source == nil or info.source == T.SOURCE) then
    info.func = nil
  end
  return info
end

T.looking = {
  traceback = function(...) return rawtraceback(...) end,
  getinfo = function(first, ...)
    if type(first) == "thread" then
      local level, what = ...
      return looked(rawgetinfo(first, level, what or "nSltuf"), type(level) == "function")
    end
    if type(first) == "number" then return looked(rawgetinfo(first + 1, (...) or "nSltuf"), false) end
    return looked(rawgetinfo(first, (...) or "nSltuf"), type(first) == "function")
  end,
}
