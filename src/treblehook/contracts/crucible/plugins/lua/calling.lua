-- Calling a plugin's functions without taking more out of Lua than is wanted: a class that points to itself, say, could not leave it.

-- Runs a plugin's file: the type of what it returned, of a table the values of `keys`, and the names of all its string keys.
local function evaluate(chunk, keys)
  local returned = chunk()
  if type(returned) ~= "table" then
    return type(returned)
  end
  local known, names = {}, {}
  for _, key in ipairs(keys) do
    known[key] = rawget(returned, key)
  end
  for key in next, returned do
    if type(key) == "string" then
      names[#names + 1] = key
    end
  end
  return "table", known, names
end

-- Calls a function; what it returns is of no interest.
local function call(fn, ...)
  fn(...)
end

return evaluate, call
