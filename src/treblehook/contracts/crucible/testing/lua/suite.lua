-- describe, it, before_each, after_each: a test file calls them; what this file returns answers what was described.
-- Each test comes with its whole name and every function that runs before and after it, in order.

local SEPARATOR = " > "

local found = {}
local top = { before = {}, after = {} }
local group = top

local function check(what, name, fn)
  if type(name) ~= "string" or name == "" or not utf8.len(name) then
    error(what .. " takes a name and a function; the name must be a text", 3)
  elseif type(fn) ~= "function" then
    error(what .. " takes a name and a function; " .. string.format("%q", name) .. " has no function", 3)
  end
end

function describe(name, fn)
  check("describe", name, fn)
  local outer = group
  group = { name = name, outer = outer, before = {}, after = {} }
  local ran, raised = pcall(fn)
  group = outer
  if not ran then
    error(raised, 0)
  end
end

function it(name, fn)
  check("it", name, fn)
  found[#found + 1] = { name = name, group = group, run = fn }
end

function before_each(fn)
  if type(fn) ~= "function" then
    error("before_each takes a function", 2)
  end
  group.before[#group.before + 1] = fn
end

function after_each(fn)
  if type(fn) ~= "function" then
    error("after_each takes a function", 2)
  end
  group.after[#group.after + 1] = fn
end

-- Outer groups are set up first and taken down last.
local function tests()
  local answer = {}
  for place, test in ipairs(found) do
    local name, before, after = test.name, {}, {}
    local at = test.group
    while at do
      name = at.name and at.name .. SEPARATOR .. name or name
      table.move(before, 1, #before, #at.before + 1)
      table.move(at.before, 1, #at.before, 1, before)
      table.move(at.after, 1, #at.after, #after + 1, after)
      at = at.outer
    end
    answer[place] = { name = name, before = before, after = after, run = test.run }
  end
  return answer
end

return tests
