-- Patterns on subjects for which C could need long, and C cannot be interrupted. First the cost is bounded from above: by the items of
-- the pattern and by the longest runs of their classes in the subject. What stays cheap is done by C after all; the rest is matched here,
-- in Lua, where the clock is looked at, with C for runs, literals and the search for a start. Loaded at the first need.
local T = ...
local type, error, tostring, tointeger = type, error, tostring, math.tointeger
local byte, char, sub, rep, concat = string.byte, string.char, string.sub, string.rep, table.concat
local rawfind, rawmatch, rawgmatch, rawgsub = string.find, string.match, string.gmatch, string.gsub
local unpack, min, max, huge = table.unpack, math.min, math.max, math.huge
local charge, position = T.charge, T.position

-- Comparisons that C may need: without a look at the subject, and after one.
local CRUDE, MEASURED = 1000000, 20000000
local SHORT_RUN = 3
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
  -- From each item on, the next that is not a capture.
  local taking = { [count + 1] = count + 1, [count + 2] = count + 2 }
  for k = count, 1, -1 do
    local kind = items[k].kind
    taking[k] = (kind == "open" or kind == "close" or kind == "position") and taking[k + 1] or k
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

-- The longest run of a class in `s`, and the sum of the squares of all runs; infinite where that is too much anyway.
local function runs(s, set)
  local long = rep(set, SHORT_RUN + 1)
  local longest, squares = SHORT_RUN, SHORT_RUN * #s
  if not rawfind(s, long) then return longest, squares end
  for from, to in rawgmatch(s, "()" .. long .. set .. "*()") do
    local length = to - from
    if length > longest then longest = length end
    squares = squares + length * length
    if squares > MEASURED then return huge, huge end
  end
  return longest, squares
end

local function occurrences(s, item)
  local _, count = rawgsub(s, item.set, "%0")
  return count
end

-- An upper bound of the comparisons that C needs over all starts (from one start, if anchored). `measured`: look at the subject.
local function bound(found, s, measured)
  local items, sure, n = found.items, found.sure, #s
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
  -- Of the rest from item k on: from one start; over all starts together, until the whole pattern matches.
  local one, all = 1, 1
  for k = found.count, 1, -1 do
    local item = items[k]
    local kind, loop = item.kind, item.loop
    if kind == "end" then one, all = 1, n
    elseif kind == "balance" or kind == "back" then one, all = n + one, n * n + all
    elseif kind == "frontier" then one, all = one + 2, all + 2 * n
    elseif kind == "one" then
      if not loop then
        local fitting = measured and item.literal and occurrences(s, item) or n
        one, all = one + 1, n + min(all, fitting * one)
      elseif loop == "?" then one, all = 2 * one + 1, 2 * all + n
      elseif sure[k + 1] and loop == "-" then one, all = one + 1, one + n
      elseif sure[k + 1] then one, all = n + one, 2 * n + one
      elseif item.all then
        local before = one
        one = n + min(all, (n + 1) * before)
        all = sure[k] and n + one or n * n + (n + 1) * all
      else
        -- Every pair of a start and a position in its run is tried; most tries end at once.
        local longest, squares = runs_of(item.set)
        one, all = longest + min(all, (longest + 1) * one), n + 2 * squares + (longest + 1) * max(0, all - n)
      end
    end
    all = min(all, (n + 1) * one)
  end
  return found.anchored and one or all
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

-- Matching here. -------------------------------------------------------------------------------------------------------------------

local function matcher(found, s)
  local items, sure, taking, n = found.items, found.sure, found.taking, #s
  local starts, lengths, level = {}, {}, 0  -- captures; a length of -1: open, -2: a position
  local match

  local function run(item, i)
    if item.all then return n + 1 end
    local pattern = item.run
    if not pattern then
      pattern = "^" .. item.set .. "*"
      item.run = pattern
    end
    local _, last = rawfind(s, pattern, i)
    charge(last - i + 2)
    return last + 1
  end

  local function greedy(k, item, i)
    local low, high = i, run(item, i)
    if item.loop == "+" then low = i + 1 end
    if high < low then return nil end
    if sure[k + 1] then return match(k + 1, high) end
    local after = items[taking[k + 1]]
    if after.kind == "end" then return high == n + 1 and match(k + 1, high) or nil end
    local wanted = after.kind == "one" and after.literal and not after.loop and byte(after.literal)
    for j = high, low, -1 do
      if not wanted or byte(s, j) == wanted then
        local stop = match(k + 1, j)
        if stop then return stop end
      end
    end
  end

  local function lazy(k, item, i)
    if sure[k + 1] then return match(k + 1, i) end
    local after = items[taking[k + 1]]
    local high = run(item, i)
    if after.kind == "end" then return high == n + 1 and match(k + 1, high) or nil end
    if after.kind == "one" and after.literal and not after.loop then
      local j = i
      while true do
        local at = rawfind(s, after.literal, j, true)
        charge((at or n) - j)
        if not at or at > high then return nil end
        local stop = match(k + 1, at)
        if stop then return stop end
        j = at + 1
      end
    end
    -- A loop that is followed by the end reaches it only from the last run of its class on.
    local behind = items[taking[taking[k + 1] + 1]]
    if after.kind == "one" and (after.loop == "*" or after.loop == "+") and behind and behind.kind == "end" then
      local last = n + 1
      local member = members_of(after.set)
      while last > i and member[byte(s, last - 1)] do last = last - 1 end
      if last > high or (after.loop == "+" and last == n + 1) then return nil end
      return match(k + 1, last)
    end
    for j = i, high do
      local stop = match(k + 1, j)
      if stop then return stop end
    end
  end

  local function balance(item, i)
    local open, close = item[1], item[2]
    if byte(s, i) ~= open then return nil end
    local either = "[%" .. char(open) .. "%" .. char(close) .. "]"
    if open == close then
      local stop = rawfind(s, char(close), i + 1, true)
      return stop and stop + 1
    end
    if rawfind(char(open, close), "%w") or open == 0 or close == 0 then either = nil end
    local depth, j = 1, i + 1
    while true do
      if either then
        local before = j
        j = rawfind(s, either, j)
        if not j then return nil end
        charge(j - before)
      elseif j > n then return nil end
      local c = byte(s, j)
      if c == close then
        depth = depth - 1
        if depth == 0 then return j + 1 end
      elseif c == open then depth = depth + 1 end
      j = j + 1
    end
  end

  match = function(k, i)
    while true do
      local item = items[k]
      if not item then return i end
      local kind = item.kind
      if kind == "one" then
        local loop = item.loop
        if loop == "*" or loop == "+" then return greedy(k, item, i) end
        if loop == "-" then return lazy(k, item, i) end
        local fits = i <= n and (item.all or members_of(item.set)[byte(s, i)])
        if loop == "?" then
          if fits then
            local stop = match(k + 1, i + 1)
            if stop then return stop end
          end
        elseif fits then i = i + 1
        else return nil end
      elseif kind == "open" or kind == "position" then
        if level >= CAPTURES then fail("too many captures") end
        level = level + 1
        starts[level], lengths[level] = i, kind == "open" and -1 or -2
        local stop = match(k + 1, i)
        if not stop then level = level - 1 end
        return stop
      elseif kind == "close" then
        local which
        for l = level, 1, -1 do
          if lengths[l] == -1 then
            which = l
            break
          end
        end
        if not which then fail("invalid pattern capture") end
        lengths[which] = i - starts[which]
        local stop = match(k + 1, i)
        if not stop then lengths[which] = -1 end
        return stop
      elseif kind == "end" then return i == n + 1 and i or nil
      elseif kind == "balance" then
        i = balance(item, i)
        if not i then return nil end
      elseif kind == "frontier" then
        local member = members_of(item.set)
        if member[i > 1 and byte(s, i - 1) or 0] or not member[i <= n and byte(s, i) or 0] then return nil end
      elseif kind == "back" then
        local number = item.number
        if number < 1 or number > level or lengths[number] == -1 then fail("invalid capture index %" .. number) end
        local length = lengths[number]
        if length == -2 then return nil end
        charge(length)
        if i + length - 1 > n or sub(s, starts[number], starts[number] + length - 1) ~= sub(s, i, i + length - 1) then return nil end
        i = i + length
      else fail(item.message) end
      k = k + 1
    end
  end

  local head = items[taking[1]]
  -- Where the first match from `i` on may begin, found by C.
  local function next_start(i)
    if head and head.kind == "one" and (not head.loop or head.loop == "+") and not head.all then
      local start
      if head.literal then start = rawfind(s, head.literal, i, true) else start = rawfind(s, head.set, i) end
      charge((start or n) - i + 1)
      return start
    end
    return i
  end

  -- Looks for a match from `i` on; its begin and the position behind it.
  local function search(i)
    while true do
      local start = i
      if not found.anchored then
        start = next_start(i)
        if not start then return nil end
      end
      if start > n + 1 then return nil end
      level = 0
      local stop = match(1, start)
      if stop then return start, stop end
      if found.anchored then return nil end
      i = start + 1
      -- Whatever a leading loop could reach from inside of its run, it has tried from the run's begin.
      if head and head.loop == "+" and head.kind == "one" and not found.backs and not head.all then i = max(i, run(head, start)) end
    end
  end

  local function capture(l, start, stop)
    if l > level then
      if l ~= 1 then fail("invalid capture index %" .. l) end
      return sub(s, start, stop - 1)
    end
    local length = lengths[l]
    if length == -1 then fail("unfinished capture") end
    if length == -2 then return starts[l] end
    return sub(s, starts[l], starts[l] + length - 1)
  end

  local function captures(start, stop, whole)
    local count = level
    if count == 0 and whole then count = 1 end
    local values = {}
    for l = 1, count do values[l] = capture(l, start, stop) end
    return unpack(values, 1, count)
  end

  return { search = search, capture = capture, captures = captures, match_at = function(i)
    level = 0
    return match(1, i)
  end, next_start = next_start }
end

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
  if plain or not rawfind(pattern, "[%^%$%*%+%?%.%(%)%[%%%-]") then
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
