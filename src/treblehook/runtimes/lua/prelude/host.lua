-- What the host asks for.
local T = ...
local public, hold, functions = T.public, T.hold, T.functions
local next, type, select, rawset, getinfo, rawload = next, type, select, rawset, debug.getinfo, load
local compile = T.compile

function T.load(text, name)
  local f, message = compile(text, name, public)
  if not f then return 7, message end
  return 0, hold(f)
end

function T.defined_at(id)
  local info = getinfo(functions[id], "S")
  return 0, info.short_src, info.linedefined
end

-- A function that makes the tables of one form from their leaves and calls a handler with them.
function T.shape(source)
  local entries = T.entries
  local k = #entries + 1
  entries[k] = rawload(source, T.SOURCE, "t", {})(functions, T.first)
  return 0, k
end

-- Puts `value` at a path of names below the user's globals, making the tables on the way.
local function place_at(value, ...)
  local table = public
  local count = select("#", ...)
  for i = 1, count - 1 do
    local name = (select(i, ...))
    local inner = table[name]
    if type(inner) ~= "table" then
      inner = {}
      rawset(table, name, inner)
    end
    table = inner
  end
  rawset(table, (select(count, ...)), value)
end

function T.provide(call, raw, name, ...) place_at(T.provided(call, raw, name), ...) end
function T.provide_waiting(call, name, ...) place_at(T.provided_waiting(call, name), ...) end
function T.provide_either(call, at_once, name, ...) place_at(T.provided_waiting(call, name, T.provided(at_once, false, name)), ...) end
function T.provide_value(form, leaves, ...) place_at(T.build_from(form, leaves)[1], ...) end

-- What a function of the user's library is called.
function T.name_of(f)
  for _, library in next, { public, public.string, public.utf8, public.coroutine, T.tables or {}, T.files or {} } do
    for name, value in next, library do
      if value == f then return name end
    end
  end
end

-- Loads a file of the prelude that most VMs never need.
function T.need(file)
  if not T[file] then rawload(T.later(file), T.SOURCE, "b")(T) end
end

T.output = T.provided(T.write, false, "print")

-- What nobody needs any more makes room.
local loaded = debug.getregistry()._LOADED
for name in next, loaded do loaded[name] = nil end
debug, python, package, coroutine, utf8, os, math = nil, nil, nil, nil, nil, nil, nil
collectgarbage()
