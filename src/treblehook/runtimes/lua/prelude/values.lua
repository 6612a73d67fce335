-- Values cross as a text that tells their form, and their leaves (scalars) in order:
--   s a scalar   [ ... ] a sequence   { key value ... } a map   ( key value ... ) a table as it is   f a function by number
--   0 null   x a value that cannot cross (its leaf says what)   k a key that cannot cross (its leaf is its type)
local T = ...
local type, next, select, rawlen, rawget, rawequal, tostring, error = type, next, select, rawlen, rawget, rawequal, tostring, error
local setmetatable, getmetatable, mathtype, huge = setmetatable, getmetatable, math.type, math.huge
local concat, unpack, byte, char = table.concat, table.unpack, string.byte, string.char

local DEEPEST = T.deepest
-- Leaves that cross as arguments; more are fetched with `take`.
local DIRECT = 40

local functions, last = {}, 0
local arrays = setmetatable({}, { __mode = "k" })

local null = setmetatable({}, {
  __name = "null",
  __metatable = false,
  __tostring = function() return "null" end,
  __newindex = function() error(T.position() .. "null has no fields", 0) end,
})

local function hold(f)
  last = last + 1
  functions[last] = f
  return last
end

local SCALAR = { ["nil"] = true, boolean = true, number = true, string = true }

local function named(path, key)
  if type(key) == "string" then return path == "" and key or path .. "." .. key end
  return path .. "[" .. tostring(key) .. "]"
end

local function put(form, leaves, value, depth, open, strict, path)
  local kind = type(value)
  if SCALAR[kind] then
    if strict and kind == "number" and (value ~= value or value == huge or value == -huge) then
      form[#form + 1] = "x"
      leaves.n = leaves.n + 1
      leaves[leaves.n] = path .. "\0the number " .. tostring(value)
      return
    end
    form[#form + 1] = "s"
    leaves.n = leaves.n + 1
    leaves[leaves.n] = value
    return
  end
  local bad
  if kind == "table" then
    if rawequal(value, null) then
      form[#form + 1] = "0"
      return
    end
    if open[value] then bad = "a table that contains itself"
    elseif depth > DEEPEST then bad = "a table nested deeper than " .. DEEPEST .. " levels"
    else
      open[value] = true
      local length = rawlen(value)
      if length > 0 or arrays[value] then
        form[#form + 1] = "["
        for i = 1, length do
          put(form, leaves, rawget(value, i), depth + 1, open, strict, strict and path .. "[" .. i .. "]" or path)
        end
        form[#form + 1] = "]"
      else
        form[#form + 1] = "{"
        for k, v in next, value do
          local key = type(k)
          if key == "string" or mathtype(k) == "integer" then
            leaves.n = leaves.n + 1
            leaves[leaves.n] = k
            put(form, leaves, v, depth + 1, open, strict, strict and named(path, k) or path)
          end
        end
        form[#form + 1] = "}"
      end
      open[value] = nil
      return
    end
  elseif kind == "function" and not strict then
    form[#form + 1] = "f"
    leaves.n = leaves.n + 1
    leaves[leaves.n] = hold(value)
    return
  else
    bad = (kind == "userdata" and "a userdata") or (kind == "thread" and "a coroutine") or "a function"
  end
  form[#form + 1] = "x"
  leaves.n = leaves.n + 1
  leaves[leaves.n] = path .. "\0" .. bad
end

-- A table with its keys as they are at the top.
local function put_raw(form, leaves, value, strict)
  if type(value) ~= "table" or rawequal(value, null) then return put(form, leaves, value, 1, {}, strict, "") end
  local open = { [value] = true }
  form[#form + 1] = "("
  for k, v in next, value do
    local key = type(k)
    if key == "string" or mathtype(k) == "integer" then
      leaves.n = leaves.n + 1
      leaves[leaves.n] = k
      put(form, leaves, v, 2, open, strict, strict and named("", k) or "")
    else
      form[#form + 1] = "k"
      leaves.n = leaves.n + 1
      leaves[leaves.n] = key
    end
  end
  if arrays[value] then form[#form + 1] = "a" end
  form[#form + 1] = ")"
end

local outbox, taken

-- The next leaves of what could not cross at once.
local function take()
  local from, to = taken + 1, taken + T.chunk
  local leaves = outbox
  if to >= leaves.n then
    to = leaves.n
    outbox = nil
  end
  taken = to
  return unpack(leaves, from, to)
end

local function sent(form, leaves)
  local text = concat(form)
  if leaves.n <= DIRECT then return text, unpack(leaves, 1, leaves.n) end
  outbox, taken = leaves, 0
  return "T" .. text, leaves.n
end

local function packed(form, leaves)
  local text = concat(form)
  if leaves.n <= 6 then return 2, text, leaves.n, unpack(leaves, 1, leaves.n) end
  outbox, taken = leaves, 0
  return 2, text, leaves.n
end

-- Arguments of a function of the host: (false, scalars...) or (form, leaves...).
local function flatten_arguments(raw, name, ...)
  local count = select("#", ...)
  while count > 0 and (select(count, ...)) == nil do count = count - 1 end
  local form, leaves = {}, { n = 0 }
  local given = { ... }
  for i = 1, count do
    if raw then put_raw(form, leaves, given[i], false) else put(form, leaves, given[i], 1, {}, false, "") end
  end
  return sent(form, leaves)
end

-- Values from the host.

local spec, given, at, leaf
local function value()
  local c = byte(spec, at)
  at = at + 1
  if c == 115 then -- s
    leaf = leaf + 1
    return given[leaf]
  elseif c == 123 then -- {
    local t = {}
    while byte(spec, at) ~= 125 do
      leaf = leaf + 1
      local key = given[leaf]
      t[key] = value()
    end
    at = at + 1
    return t
  elseif c == 91 then -- [
    local t, n = {}, 0
    while byte(spec, at) ~= 93 do
      n = n + 1
      t[n] = value()
    end
    at = at + 1
    if n == 0 then arrays[t] = true end
    return t
  elseif c == 48 then -- 0
    return null
  elseif c == 102 then -- f
    leaf = leaf + 1
    return functions[given[leaf]]
  elseif c == 97 then -- a
    return T.mark
  end
end

local function several(stop)
  if at > stop then return end
  local v = value()
  if at > stop then return v end
  local rest = { n = 1, v }
  while at <= stop do
    rest.n = rest.n + 1
    rest[rest.n] = value()
  end
  return unpack(rest, 1, rest.n)
end

local function build(form, ...)
  if form == false then return ... end
  spec, at, leaf = form, 1, 0
  if byte(form, 1) == 84 then -- T: the leaves are in a table
    at = 2
    given = ...
  else
    given = { ... }
  end
  return several(#form)
end

-- One value whose leaves are in a table.
function T.build_from(form, leaves)
  spec, at, leaf, given = form, 1, 0, leaves
  if byte(form, 1) == 84 then at, given = 2, leaves[1] end
  return value()
end

-- Entries of a run: what is called, and which of its results go back. The first takes them all, the second only the first one.

local function all(...)
  local count = select("#", ...)
  while count > 0 and (select(count, ...)) == nil do count = count - 1 end
  if count == 0 then return nil end
  local form, leaves = {}, { n = 0 }
  local results = { ... }
  for i = 1, count do put(form, leaves, results[i], 1, {}, false, "") end
  return packed(form, leaves)
end

local function first(result)
  if result == nil then return nil end
  local kind = type(result)
  if kind ~= "table" then
    if kind == "string" or kind == "boolean" or kind == "number" then return 5, result end
    return 6, kind
  end
  local form, leaves = {}, { n = 0 }
  put_raw(form, leaves, result, true)
  return packed(form, leaves)
end

local entries = T.entries
entries[0] = function(id, ...) return all(functions[id](build(...))) end
entries[1] = function(id, ...) return first(functions[id](build(...))) end
entries[2] = function(name, ...) return T[name](...) end

local function describe(e)
  local kind = type(e)
  if kind == "string" then return e end
  if kind == "nil" then return "nil (an error without a message)" end
  if kind == "table" then
    local meta = getmetatable(e)
    if type(meta) == "table" and rawget(meta, "__tostring") then return tostring(e) end
    local message = rawget(e, "message")
    if type(message) == "string" then return message end
    return "a table without __tostring and without a message"
  end
  return tostring(e)
end
-- Holds the first result, whatever it is.
entries[3] = function(id, ...) return 0, hold((functions[id](build(...)))) end

T.hold, T.null, T.functions, T.first, T.take, T.build = hold, null, functions, first, take, build
T.flatten_arguments, T.describe = flatten_arguments, describe
T.mark = function(t)
  if type(t) ~= "table" then error(T.position() .. "a table is expected, got " .. type(t), 0) end
  arrays[t] = true
  return t
end

T.release = function(...)
  for i = 1, select("#", ...) do functions[(select(i, ...))] = nil end
end
