-- The table library with every loop of C bounded: what could go on for ever there is done here, where the clock is looked at. Loaded at the
-- first need.
local T = ...
local type, error, select = type, error, select
local metatable_of, rawget = T.metatable_of, rawget
local tointeger, min = T.tointeger, T.min
local maxinteger = T.maxinteger
local raw = table
local charge, position = T.charge, T.position
local rawconcat, rawinsert, rawmove, rawremove, rawsort, rawunpack = raw.concat, raw.insert, raw.move, raw.remove, raw.sort, raw.unpack

-- A table without comparison function is sorted by C up to this length.
local SORTED_BY_C = 5000
-- Elements that C moves at once.
local STRETCH = 100000

-- No metamethod takes part when C reads, writes or measures it.
local function plain(t)
  if type(t) ~= "table" then return true end
  local meta = metatable_of(t)
  return meta == nil
    or (rawget(meta, "__index") == nil and rawget(meta, "__newindex") == nil and rawget(meta, "__len") == nil)
end

local function fail(text) error(position() .. text, 0) end

local public = {}
T.tables = public

function public.concat(t, separator, i, j)
  if plain(t) then
    if type(t) == "table" then charge(#t * 20) end
    return rawconcat(t, separator, i, j)
  end
  i, j = i or 1, j or #t
  local parts, n = {}, 0
  for k = i, j do
    local v = t[k]
    if type(v) ~= "string" and type(v) ~= "number" then
      fail("invalid value (at index " .. k .. ") in table for 'concat'")
    end
    n = n + 1
    parts[n] = v
  end
  return rawconcat(parts, separator)
end

function public.insert(t, ...)
  if plain(t) then
    if select("#", ...) == 2 and type(t) == "table" then charge(#t * 5) end
    return rawinsert(t, ...)
  end
  local count = select("#", ...)
  local last = #t + 1
  if count == 1 then
    t[last] = (...)
    return
  end
  if count ~= 2 then fail("wrong number of arguments to 'insert'") end
  local at, value = ...
  at = tointeger(at)
  if not at or at < 1 or at > last then fail("bad argument #2 to 'insert' (position out of bounds)") end
  for k = last, at + 1, -1 do t[k] = t[k - 1] end
  t[at] = value
end

function public.remove(t, ...)
  if plain(t) then
    if select("#", ...) > 0 and type(t) == "table" then charge(#t * 5) end
    return rawremove(t, ...)
  end
  local size = #t
  local at = size
  if select("#", ...) > 0 then
    at = tointeger((...))
    if not at or (size + 1 - at < 0 or size + 1 - at > size) and at ~= size then
      fail("bad argument #2 to 'remove' (position out of bounds)")
    end
  end
  local value = t[at]
  while at < size do
    t[at] = t[at + 1]
    at = at + 1
  end
  t[at] = nil
  return value
end

function public.move(from, first, last, to, ...)
  local into = from
  if select("#", ...) > 0 and (...) ~= nil then into = (...) end
  local f, e, d = tointeger(first), tointeger(last), tointeger(to)
  if not (f and e and d) or (plain(from) and plain(into) and (e < f or (e - f >= 0 and e - f < STRETCH))) then
    return rawmove(from, first, last, to, ...)
  end
  if e < f then return into end
  if not (f > 0 or e < maxinteger + f) then fail("bad argument #3 to 'move' (too many elements to move)") end
  if d > maxinteger - (e - f) then fail("bad argument #4 to 'move' (destination wrap around)") end
  local distance = d - f
  if d > e or d <= f or into ~= from then
    for k = f, e do into[k + distance] = from[k] end
  else
    for k = e, f, -1 do into[k + distance] = from[k] end
  end
  return into
end

function public.unpack(t, i, j)
  if plain(t) then
    if type(t) == "table" then charge(min(#t, 1000000) * 5) end
    return rawunpack(t, i, j)
  end
  i, j = tointeger(i or 1), tointeger(j or #t)
  if not i or not j then return rawunpack(t, i, j) end
  if i > j then return end
  if j - i < 0 or j - i >= 1000000 then fail("too many results to unpack") end
  local found = {}
  for k = i, j do found[k - i + 1] = t[k] end
  return rawunpack(found, 1, j - i + 1)
end

function public.sort(t, before)
  if type(t) == "table" and (before == nil or type(before) == "function") then
    local small = plain(t) and #t <= SORTED_BY_C
    if before == nil and not small then before = function(a, b) return a < b end
    elseif before ~= nil then
      local given = before
      before = function(a, b) return (given(a, b)) end
    end
    if small then charge(#t * 400) end
  end
  return rawsort(t, before)
end
