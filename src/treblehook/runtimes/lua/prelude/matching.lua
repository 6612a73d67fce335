-- Matches an understood pattern (see `patterns.lua`) in Lua, with C for runs, literals and the search for a start. Loaded with patterns.
local T = ...
local byte, char, sub, rawfind, unpack = string.byte, string.char, string.sub, string.find, table.unpack
local error, max, members_of, charge, position = error, T.max, T.members_of, T.charge, T.position

local function fail(text) error(position() .. text, 0) end

function T.matching(found, s)
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
        if level >= T.most_captures then fail("too many captures") end
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
