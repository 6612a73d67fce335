-- The assert library: what is expected comes first. `failed(message, expected, actual)` keeps the two for the report.
-- Every function raises at the line that called it. `assert(value, message)` is still the function of standard Lua.

local failed = ...

local assert_library = {}

local function text_of(value, seen, indent)
  local kind = type(value)
  if kind == "string" then
    return (string.format("%q", value):gsub("\\\n", "\\n"))
  elseif kind ~= "table" then
    return tostring(value)
  elseif seen[value] then
    return "(this table again)"
  elseif next(value) == nil then
    return "{}"
  elseif #indent > 20 then
    return "{ ... }"
  end
  seen[value] = true
  local deeper = indent .. "  "
  local lines = {}
  for place, item in ipairs(value) do
    lines[place] = deeper .. text_of(item, seen, deeper)
  end
  local length, named = #lines, {}
  for key, item in pairs(value) do
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then
      local name = type(key) == "string" and key:match("^[%a_][%w_]*$") and key or "[" .. text_of(key, seen, deeper) .. "]"
      named[#named + 1] = deeper .. name .. " = " .. text_of(item, seen, deeper)
    end
  end
  table.sort(named)
  table.move(named, 1, #named, length + 1, lines)
  seen[value] = nil
  return "{\n" .. table.concat(lines, ",\n") .. "\n" .. indent .. "}"
end

local function shown(value)
  return text_of(value, {}, "")
end

-- Raises in the line of the test. `level` counts the functions between that line and this one.
local function fail(level, note, message, ...)
  if note ~= nil then
    message = tostring(note) .. ": " .. message
  end
  if select("#", ...) == 2 then
    local expected, actual = ...
    failed(message, shown(expected), shown(actual))
  else
    failed(message)
  end
  error(message, level + 1)
end

local function is_same(expected, actual, seen)
  if rawequal(expected, actual) then
    return true
  elseif type(expected) ~= "table" or type(actual) ~= "table" then
    return expected == actual
  elseif seen[expected] == actual then
    return true
  end
  seen[expected] = actual
  for key, value in pairs(expected) do
    if not is_same(value, actual[key], seen) then
      return false
    end
  end
  for key in pairs(actual) do
    if expected[key] == nil then
      return false
    end
  end
  return true
end

function assert_library.equal(expected, actual, note)
  if expected ~= actual then
    fail(2, note, "the values are not equal", expected, actual)
  end
end

function assert_library.not_equal(unexpected, actual, note)
  if unexpected == actual then
    fail(2, note, "the value is " .. shown(actual) .. ", which it must not be")
  end
end

function assert_library.same(expected, actual, note)
  if not is_same(expected, actual, {}) then
    fail(2, note, "the values are not the same", expected, actual)
  end
end

function assert_library.not_same(unexpected, actual, note)
  if is_same(unexpected, actual, {}) then
    fail(2, note, "the value is " .. shown(actual) .. ", which it must not be")
  end
end

function assert_library.truthy(actual, note)
  if not actual then
    fail(2, note, "the value is " .. tostring(actual) .. ", which is not truthy")
  end
end

function assert_library.falsy(actual, note)
  if actual then
    fail(2, note, "the value is " .. shown(actual) .. ", which is not falsy")
  end
end

function assert_library.is_true(actual, note)
  if actual ~= true then
    fail(2, note, "the value is not true", true, actual)
  end
end

function assert_library.is_false(actual, note)
  if actual ~= false then
    fail(2, note, "the value is not false", false, actual)
  end
end

function assert_library.is_nil(actual, note)
  if actual ~= nil then
    fail(2, note, "the value is not nil", nil, actual)
  end
end

function assert_library.not_nil(actual, note)
  if actual == nil then
    fail(2, note, "the value is nil")
  end
end

function assert_library.is_type(expected, actual, note)
  if type(actual) ~= expected then
    fail(2, note, "the value is " .. shown(actual) .. ", a " .. type(actual) .. " and no " .. tostring(expected))
  end
end

-- `pattern` is a Lua pattern.
function assert_library.matches(pattern, actual, note)
  if type(actual) ~= "string" or not actual:find(pattern) then
    fail(2, note, "the text does not match the pattern", pattern, actual)
  end
end

-- A text contains a text as it is; a list contains what is the same as one of its entries.
local function contains(expected, actual)
  if type(actual) == "string" then
    return type(expected) == "string" and actual:find(expected, 1, true) ~= nil
  elseif type(actual) == "table" then
    for _, item in pairs(actual) do
      if is_same(expected, item, {}) then
        return true
      end
    end
  end
  return false
end

function assert_library.contains(expected, actual, note)
  if not contains(expected, actual) then
    fail(2, note, "it does not contain what is expected", expected, actual)
  end
end

function assert_library.not_contains(unexpected, actual, note)
  if contains(unexpected, actual) then
    fail(2, note, "it contains " .. shown(unexpected) .. ", which it must not: " .. shown(actual))
  end
end

-- `fn` raises; answers what it raised. With a `pattern` (a Lua pattern) the message matches it.
function assert_library.error(fn, pattern, note)
  if type(fn) ~= "function" then
    fail(2, note, "assert.error takes a function, found " .. shown(fn))
  end
  local ran, raised = pcall(fn)
  if ran then
    fail(2, note, "the function raised nothing")
  elseif pattern ~= nil and not tostring(raised):find(pattern) then
    fail(2, note, "the function raised something else", pattern, raised)
  end
  return raised
end

-- `fn` raises nothing; answers what it returned.
function assert_library.no_error(fn, note)
  local results = table.pack(pcall(fn))
  if not results[1] then
    fail(2, note, "the function raised: " .. tostring(results[2]))
  end
  return table.unpack(results, 2, results.n)
end

function assert_library.fail(note)
  fail(2, nil, tostring(note or "failed"))
end

return setmetatable(assert_library, {
  __call = function(_, ...)
    local value, message = ...
    if value then
      return ...
    elseif select("#", ...) < 2 then
      message = "assertion failed!"
    end
    error(message, type(message) == "string" and select("#", ...) < 2 and 2 or 0)
  end,
  __index = function(_, name)
    error("there is no assert." .. tostring(name), 2)
  end,
})
