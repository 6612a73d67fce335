-- Any value as text for a line of the log: never raises, bounded in depth and length.
local DEPTH, ITEMS = 4, 50

local text_of

local function own_text(value)
  if getmetatable(value) ~= nil then
    local fine, text = pcall(tostring, value)
    return fine and not text:find("^table: ") and text or nil
  end
end

-- The parts of a table: the sequence, then the other keys; `left.items` bounds how many there are in all.
local function table_text(value, depth, left)
  if depth >= DEPTH or left.open[value] then
    return "{…}"
  end
  left.open[value] = true
  local parts, length = {}, rawlen(value)
  local function add(text)
    left.items = left.items - 1
    parts[#parts + 1] = text
  end
  for place = 1, length do
    if left.items <= 0 then break end
    add(text_of(rawget(value, place), depth + 1, left))
  end
  for key, item in next, value do
    if left.items <= 0 then break end
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then
      local name = type(key) == "string" and key or "[" .. text_of(key, DEPTH, left) .. "]"
      add(name .. " = " .. text_of(item, depth + 1, left))
    end
  end
  left.open[value] = nil
  if left.items <= 0 then
    parts[#parts + 1] = "…"
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

function text_of(value, depth, left)
  local kind = type(value)
  if kind == "string" then
    return depth == 0 and value or '"' .. value .. '"'
  end
  local own = own_text(value)
  if own then
    return own
  end
  if kind == "table" then
    return table_text(value, depth, left)
  end
  return (kind == "nil" or kind == "boolean" or kind == "number") and tostring(value) or "(" .. kind .. ")"
end

return function(value)
  return text_of(value, 0, { items = ITEMS, open = {} })
end
