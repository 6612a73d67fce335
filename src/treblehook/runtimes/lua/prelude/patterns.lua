-- Patterns on subjects for which C could need long, and C cannot be interrupted. First the cost is bounded from above: by the items of
-- the pattern and by the longest runs of their classes in the subject. What stays cheap is done by C after all; the rest is matched in
-- Lua (`matching.lua`), where the clock is looked at. Loaded at the first need.
local T = ...
local type, error, tostring, tointeger = type, error, tostring, T.tointeger
local byte, char, sub, rep, concat = string.byte, string.char, string.sub, string.rep, table.concat
local rawfind, rawmatch, rawgmatch, rawgsub = string.find, string.match, string.gmatch, string.gsub
local min, max = T.min, T.max
local charge, position = T.charge, T.position

-- Comparisons that C may need: without a look at the subject, and after one.
local CRUDE, MEASURED = 1000000, 20000000
local SHORT_RUN = 3
-- How many times the subject's length a bound must be before a literal of the pattern is counted in it.
local WORTH_COUNTING = 8
-- Stands for whatever is beyond `MEASURED`; finite, so that it can be multiplied by nothing.
local TOO_MUCH = 1e100
local CAPTURES = 32

local function fail(text) error(position() .. text, 0) end

-- The items of a pattern. ----------------------------------------------------------------------------------------------------------

-- The end of a single class that begins at `p`, or nil and why the pattern is malformed.
local function class_end(pattern, p)
  local c = byte(pattern, p)
  p = p + 1
  if c == 37 then -- %
    if p > #pattern then return nil, "malformed pattern (ends with '%')" end
    return p + 1
  elseif c == 91 then -- [
    if byte(pattern, p) == 94 then p = p + 1 end
    repeat
      if p > #pattern then return nil, "malformed pattern (missing ']')" end
      local escaped = byte(pattern, p) == 37
      p = p + 1
      if escaped and p <= #pattern then p = p + 1 end
    until byte(pattern, p) == 93
    return p + 1
  end
  return p
end

-- Which bytes belong to a class, made when first asked.
local members = {}
local function members_of(set)
  local found = members[set]
  if not found then
    found = {}
    local anchored = "^" .. set
    for c = 0, 255 do found[c] = rawfind(char(c), anchored) ~= nil end
    members[set] = found
  end
  return found
end

local LOOPS = { [42] = "*", [43] = "+", [45] = "-", [63] = "?" }

local function single(pattern, p, stop)
  local set = sub(pattern, p, stop - 1)
  if #set == 1 and not rawfind(set, "^[%w.]") then set = "%" .. set end
  local literal
  if #set == 1 and set ~= "." then literal = set
  elseif #set == 2 and byte(set) == 37 and not rawfind(set, "^.[acdglpsuwxACDGLPSUWX]") then literal = sub(set, 2) end
  local loop = LOOPS[byte(pattern, stop)]
  return { kind = "one", set = set, literal = literal, loop = loop, all = set == "." }, loop and stop + 1 or stop
end

local function parse(pattern, p)
  local items = {}
  while p <= #pattern do
    local c, after = byte(pattern, p, p + 1)
    local item
    if c == 40 then -- (
      if after == 41 then item, p = { kind = "position" }, p + 2 else item, p = { kind = "open" }, p + 1 end
    elseif c == 41 then item, p = { kind = "close" }, p + 1
    elseif c == 36 and p == #pattern then item, p = { kind = "end" }, p + 1
    elseif c == 37 and after == 98 then -- %b
      if p + 3 > #pattern then item = { kind = "error", message = "malformed pattern (missing arguments to '%b')" }
      else item, p = { kind = "balance", byte(pattern, p + 2, p + 3) }, p + 4 end
    elseif c == 37 and after == 102 then -- %f
      if byte(pattern, p + 2) ~= 91 then item = { kind = "error", message = "missing '[' after '%f' in pattern" }
      else
        local stop, message = class_end(pattern, p + 2)
        if stop then item, p = { kind = "frontier", set = sub(pattern, p + 2, stop - 1) }, stop
        else item = { kind = "error", message = message } end
      end
    elseif c == 37 and after and after >= 48 and after <= 57 then item, p = { kind = "back", number = after - 48 }, p + 2
    else
      local stop, message = class_end(pattern, p)
      if stop then item, p = single(pattern, p, stop) else item = { kind = "error", message = message } end
    end
    items[#items + 1] = item
    if item.kind == "error" then break end
  end
  return items
end

local function captures_are_sound(items)
  local captures, open = 0, 0
  for k = 1, #items do
    local kind = items[k].kind
    if kind == "open" or kind == "position" then captures = captures + 1 end
    if kind == "open" then open = open + 1 elseif kind == "close" then open = open - 1 end
    if open < 0 or captures > CAPTURES then return false end
  end
  return true
end

-- What a pattern is made of, with what can be said of each of its rests (`items[k]` and all behind it):
-- `empty`: it can match nothing; `sure`: it never fails, wherever it is tried.
local function understand(pattern, anchors)
  local anchored = anchors and byte(pattern) == 94
  local items = parse(pattern, anchored and 2 or 1)
  local count = #items
  local empty, sure = { [count + 1] = true }, { [count + 1] = true }
  local backs = false
  for k = count, 1, -1 do
    local item = items[k]
    local kind = item.kind
    if kind == "back" then backs = true end
    if kind == "open" or kind == "close" or kind == "position" then empty[k], sure[k] = empty[k + 1], sure[k + 1]
    elseif kind == "end" then empty[k], sure[k] = true, false
    elseif kind == "one" and item.loop and item.loop ~= "+" then
      empty[k] = empty[k + 1]
      sure[k] = sure[k + 1] or (item.all and item.loop ~= "?" and empty[k + 1])
    else empty[k], sure[k] = false, false end
  end
  -- From each item on, the next that is not a capture; captures that raise an error when they are reached are not passed over.
  local sound = captures_are_sound(items)
  local taking = { [count + 1] = count + 1, [count + 2] = count + 2 }
  for k = count, 1, -1 do
    local kind = items[k].kind
    taking[k] = sound and (kind == "open" or kind == "close" or kind == "position") and taking[k + 1] or k
  end
  return { items = items, anchored = anchored, sure = sure, backs = backs, taking = taking, count = count }
end

local cache, cached = {}, 0
local function understood(pattern, anchors)
  local key = anchors and pattern or "\0" .. pattern
  local found = cache[key]
  if not found then
    if cached > 100 then cache, cached, members = {}, 0, {} end
    found = understand(pattern, anchors)
    cache[key] = found
    cached = cached + 1
  end
  return found
end

-- The cost of C. -------------------------------------------------------------------------------------------------------------------

-- The longest run of a class in `s`, and the sum of the squares of all runs.
local function runs(s, set)
  local long = rep(set, SHORT_RUN + 1)
  local longest, squares = SHORT_RUN, SHORT_RUN * #s
  if not rawfind(s, long) then return longest, squares end
  for from, to in rawgmatch(s, "()" .. long .. set .. "*()") do
    local length = to - from
    if length > longest then longest = length end
    squares = squares + length * length
    if squares > MEASURED then return TOO_MUCH, TOO_MUCH end
  end
  return longest, squares
end

local function occurrences(s, item)
  local _, count = rawgsub(s, item.set, "%0")
  return count
end

-- An upper bound of the comparisons that C needs over all starts (from one start, if anchored). `measured`: look at the subject.
local function bound(found, s, measured)
  -- In floats, which do not wrap around.
  local items, sure, n = found.items, found.sure, #s + 0.0
  local known = {}
  local function runs_of(set)
    if not measured then return n, n * n end
    local known_runs = known[set]
    if not known_runs then
      known_runs = { runs(s, set) }
      known[set] = known_runs
    end
    return known_runs[1], known_runs[2]
  end
  -- Of the rest from item k on: from one start; over all starts together. What a match costs that cannot fail any more comes once.
  local one, all, once = 1.0, 1.0, 0.0
  for k = found.count, 1, -1 do
    local item = items[k]
    local kind, loop = item.kind, item.loop
    if kind == "end" then one, all = 1, n
    elseif kind == "balance" or kind == "back" then one, all = n + one, n * n + all
    elseif kind == "frontier" then one, all = one + 2, all + 2 * n
    elseif kind == "one" then
      if not loop then
        local fitting = measured and item.literal and all > WORTH_COUNTING * n and occurrences(s, item) or n
        one, all = one + 1, n + min(all, fitting * one)
      elseif loop == "?" then one, all = 2 * one + 1, 2 * all + n
      elseif sure[k + 1] then
        if loop ~= "-" then once = once + n end
        one, all = one + 1, one + n
      elseif item.all and sure[k] then
        once = once + n + min(all, (n + 1) * one)
        one, all = 1, n
      elseif item.all then
        one, all = n + min(all, (n + 1) * one), n * n + (n + 1) * all
      else
        -- Every pair of a start and a position in its run is tried; most tries end at once.
        local longest, squares = runs_of(item.set)
        one, all = longest + min(all, (longest + 1) * one), n + 2 * squares + (longest + 1) * max(0, all - n)
      end
    end
    all = min(all, (n + 1) * one)
  end
  return once + (found.anchored and one or all)
end

-- True if C may do it.
local function left_to_c(found, s)
  local cost = bound(found, s, false)
  if cost > CRUDE then
    charge(#s * 10)
    cost = bound(found, s, true)
  end
  if cost > MEASURED then return false end
  charge(cost)
  return true
end

T.members_of, T.most_captures = members_of, CAPTURES
T.need("matching")
local matcher = T.matching

-- The functions of the string library. ---------------------------------------------------------------------------------------------

local function from(s, init)
  local i = init == nil and 1 or tointeger(init)
  if not i then return nil end
  if i < 0 then return max(#s + i + 1, 1) end
  return max(i, 1)
end

-- A literal in a long subject: candidates by the beginning of the literal, so that C compares little at once.
local function plain_find(s, literal, i)
  local length = #literal
  if length < 64 or #s * length < MEASURED then
    charge(#s)
    return rawfind(s, literal, i, true)
  end
  local beginning = sub(literal, 1, 32)
  while true do
    local start = rawfind(s, beginning, i, true)
    if not start then return nil end
    charge(start - i + length / 8)
    if sub(s, start, start + length - 1) == literal then return start, start + length - 1 end
    i = start + 1
  end
end

local function find(s, pattern, init, plain)
  local i = from(s, init)
  if not i then return rawfind(s, pattern, init, plain) end
  if plain or not rawfind(pattern, "[%^%$%*%+%?%.%(%[%%%-]") then
    if i > #s + 1 then return nil end
    return plain_find(s, pattern, i)
  end
  local found = understood(pattern, true)
  if left_to_c(found, s) then return rawfind(s, pattern, init) end
  if i > #s + 1 then return nil end
  local m = matcher(found, s)
  local start, stop = m.search(i)
  if not start then return nil end
  return start, stop - 1, m.captures(start, stop, false)
end

local function match(s, pattern, init)
  local i = from(s, init)
  local found = understood(pattern, true)
  if not i or left_to_c(found, s) then return rawmatch(s, pattern, init) end
  if i > #s + 1 then return nil end
  local m = matcher(found, s)
  local start, stop = m.search(i)
  if not start then return nil end
  return m.captures(start, stop, true)
end

local function gmatch(s, pattern, init)
  local i = from(s, init)
  local found = understood(pattern, false)
  if not i or left_to_c(found, s) then return rawgmatch(s, pattern, init) end
  local m = matcher(found, s)
  local last
  return function()
    while i <= #s + 1 do
      local start, stop = m.search(i)
      if not start then
        i = #s + 2
        return nil
      end
      if stop ~= last then
        i, last = stop, stop
        return m.captures(start, stop, true)
      end
      i = start + 1
    end
  end
end

-- The text that stands for a match.
local function replaced(m, s, replacement, kind, start, stop)
  local whole = sub(s, start, stop - 1)
  local value
  if kind == "function" then value = replacement(m.captures(start, stop, true))
  elseif kind == "table" then value = replacement[m.capture(1, start, stop)]
  else
    return (rawgsub(replacement, "%%(.?)", function(c)
      if c == "%" then return "%" end
      if c == "0" then return whole end
      if not rawfind(c, "^%d") then fail("invalid use of '%' in replacement string") end
      return tostring((m.capture(tointeger(c), start, stop)))
    end))
  end
  if not value then return whole end
  if type(value) ~= "string" and type(value) ~= "number" then fail("invalid replacement value (a " .. type(value) .. ")") end
  return value
end

local function gsub(s, pattern, replacement, limit)
  local kind = type(replacement)
  local found = understood(pattern, true)
  local most = limit == nil and #s + 1 or tointeger(limit)
  if (kind ~= "string" and kind ~= "number" and kind ~= "table" and kind ~= "function") or not most or left_to_c(found, s) then
    return rawgsub(s, pattern, replacement, limit)
  end
  if kind == "number" then replacement, kind = tostring(replacement), "string" end
  local m = matcher(found, s)
  local parts, n, count, i, done, last = {}, 0, 0, 1, 1, nil
  while count < most and i <= #s + 1 do
    local start, stop = m.search(i)
    if not start then break end
    if stop ~= last then
      count = count + 1
      n = n + 2
      parts[n - 1] = sub(s, done, start - 1)
      parts[n] = replaced(m, s, replacement, kind, start, stop)
      i, done, last = stop, stop, stop
    else i = start + 1 end
    if found.anchored then break end
  end
  parts[n + 1] = sub(s, done)
  return concat(parts), count
end

T.patterns = { find = find, match = match, gmatch = gmatch, gsub = gsub }
