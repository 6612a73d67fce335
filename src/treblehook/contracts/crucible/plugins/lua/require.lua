-- `require` for many owners in one state: whose module is meant follows from the file of the code that asks.
--
-- `locate(owner, name)` compiles a module (chunk, file), or says why not (nil, message, whether the message has its place).
-- `asking()` is the owner of what runs now, for code that no file of an owner called (a tail call leaves no trace).

local locate, asking = ...

local getinfo = debug.getinfo
local STANDARD = { string = string, table = table, math = math, utf8 = utf8, coroutine = coroutine, os = os, io = io, debug = debug }
local LOADING = {}

local owners = {} -- source of a chunk -> its owner
local loaded = {} -- owner -> name -> value

local function own(owner, chunk)
  owners[getinfo(chunk, "S").source] = owner
end

local function owner_of_caller()
  local level = 3
  local info = getinfo(level, "S")
  while info do
    local owner = owners[info.source]
    if owner then
      return owner
    end
    level = level + 1
    info = getinfo(level, "S")
  end
  return asking()
end

local function require(name)
  if type(name) ~= "string" then
    error("require takes the name of a module, found a " .. type(name), 2)
  elseif STANDARD[name] then
    return STANDARD[name]
  end
  local owner = owner_of_caller()
  if owner == nil then
    error("require: no modules belong to this code", 2)
  end
  local modules = loaded[owner] or {}
  loaded[owner] = modules
  if modules[name] == LOADING then
    error("require: module " .. name .. " is being loaded; it requires itself, perhaps through others", 2)
  elseif modules[name] ~= nil then
    return modules[name]
  end
  local chunk, file, placed = locate(owner, name)
  if not chunk then
    error(file, placed and 0 or 2)
  end
  own(owner, chunk)
  modules[name] = LOADING
  local ran, value = pcall(chunk, name, file)
  if not ran then
    modules[name] = nil
    error(value, 0)
  end
  -- What was loaded while a reload forgot everything is of no use to whoever asks next.
  modules[name] = value == nil and true or value
  return modules[name]
end

local function forget(owner)
  loaded[owner] = nil
end

return { require = require, own = own, forget = forget }
