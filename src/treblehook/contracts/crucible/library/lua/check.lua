-- cru.check: arguments of a plugin's own functions. A value that does not fit raises at the caller of the function that checks.

local function refuse(name, value, allowed)
  local found = type(value) == "string" and string.format("the string %q", value) or value == nil and "nil" or nil
  found = found or (type(value) == "number" or type(value) == "boolean") and tostring(value) or "a " .. type(value)
  error(string.format("%s is %s; allowed: %s", name or "the value", found, allowed), 4)
end

local function passes(value, options)
  return value == nil and type(options) == "table" and options.optional
end

local function of_type(kind, words)
  return function(value, name, options)
    if not passes(value, options) and type(value) ~= kind then
      refuse(name, value, words)
    end
    return value
  end
end

local function number(value, name, options)
  if passes(value, options) then
    return value
  end
  local least, most = (options or {}).min or -math.huge, (options or {}).max or math.huge
  if type(value) ~= "number" or value ~= value or value < least or value > most then
    refuse(name, value, least == -math.huge and most == math.huge and "a number" or string.format("a number from %s to %s", least, most))
  end
  return value
end

local function one_of(value, allowed, name, options)
  if passes(value, options) then
    return value
  end
  local words = {}
  for place, word in ipairs(allowed) do
    if value == word then
      return value
    end
    words[place] = tostring(word)
  end
  refuse(name, value, table.concat(words, ", "))
end

return {
  string = of_type("string", "a string"),
  number = number,
  boolean = of_type("boolean", "true or false"),
  table = of_type("table", "a table"),
  func = of_type("function", "a function"),
  one_of = one_of,
}
