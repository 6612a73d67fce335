-- The string and utf8 libraries with every loop of C bounded. Patterns are matched by C where that is cheap; see `patterns.lua`.
local T = ...
local error, type, tointeger, tostring = error, type, math.tointeger, tostring
local raw, utf8 = string, utf8
local charge = T.charge
local rawrep, rawfind, rawmatch, rawgmatch, rawgsub = raw.rep, raw.find, raw.match, raw.gmatch, raw.gsub
local rawnext = next

-- What a match by C may cost without a closer look, in single comparisons.
local CHEAP = 1000000
-- Repetitions that C does one by one.
local BLOCK = 4096

local public = { byte = raw.byte, char = raw.char, len = raw.len, sub = raw.sub, packsize = raw.packsize }
T.public.string = public

-- Wraps a function of C whose work grows with its first argument.
local function linear(f, each)
  return function(s, ...)
    if type(s) == "string" then charge(#s * each) end
    return f(s, ...)
  end
end

for name, each in rawnext, { lower = 1, upper = 1, reverse = 1, unpack = 2, format = 10, pack = 10 } do
  public[name] = linear(raw[name], each)
end

for name, each in rawnext, { len = 2, codepoint = 2, offset = 2 } do utf8[name] = linear(utf8[name], each) end
T.public.utf8 = utf8

function public.rep(s, n, separator)
  local count = tointeger(n)
  if (type(s) ~= "string" and type(s) ~= "number") or not count or (separator ~= nil and type(separator) ~= "string") then
    return rawrep(s, n, separator)
  end
  s = tostring(s)
  local unit = separator and s .. separator or s
  if #unit == 0 or count < 1 then return "" end
  if count <= BLOCK or #unit >= BLOCK then
    charge(count * #unit / 8 + count)
    return rawrep(s, count, separator)
  end
  if count > T.soft_kilobytes * 1024 / #unit then error("not enough memory", 0) end
  charge(count * #unit / 8)
  local times = separator and count - 1 or count
  local whole = rawrep(rawrep(unit, BLOCK), times // BLOCK) .. rawrep(unit, times % BLOCK)
  return separator and whole .. s or whole
end

-- Patterns.

-- By pattern: the longest subject with which C cannot need more than CHEAP comparisons, whatever is in it.
local lengths = {}
local known = 0

local function safe_length(pattern)
  local _, loops = rawgsub(pattern, "[*+%-?]", "")
  local _, others = rawgsub(pattern, "%%[b%d]", "")
  local length = (CHEAP / (#pattern + 1)) ^ (1 / (loops + others + 1)) - 1
  if known > 200 then
    lengths, known = {}, 0
  end
  lengths[pattern] = length
  known = known + 1
  return length
end

-- True if C may do it at once.
local function cheap(s, pattern)
  return #s <= (lengths[pattern] or safe_length(pattern))
end

local function text(s)
  local kind = type(s)
  return kind == "string" or kind == "number"
end

local function careful(name)
  T.need("patterns")
  return T.patterns[name]
end

function public.find(s, pattern, init, plain)
  if not (text(s) and text(pattern)) then return rawfind(s, pattern, init, plain) end
  s, pattern = tostring(s), tostring(pattern)
  if cheap(s, pattern) then return rawfind(s, pattern, init, plain) end
  return careful("find")(s, pattern, init, plain)
end

function public.match(s, pattern, init)
  if not (text(s) and text(pattern)) then return rawmatch(s, pattern, init) end
  s, pattern = tostring(s), tostring(pattern)
  if cheap(s, pattern) then return rawmatch(s, pattern, init) end
  return careful("match")(s, pattern, init)
end

function public.gmatch(s, pattern, init)
  if not (text(s) and text(pattern)) then return rawgmatch(s, pattern, init) end
  s, pattern = tostring(s), tostring(pattern)
  if cheap(s, pattern) then return rawgmatch(s, pattern, init) end
  return careful("gmatch")(s, pattern, init)
end

function public.gsub(s, pattern, replacement, limit)
  if not (text(s) and text(pattern)) then return rawgsub(s, pattern, replacement, limit) end
  s, pattern = tostring(s), tostring(pattern)
  if cheap(s, pattern) then return rawgsub(s, pattern, replacement, limit) end
  return careful("gsub")(s, pattern, replacement, limit)
end

debug.getmetatable("").__index = public
