-- The user's globals: the standard library without what could stop the process, block the loop or take a limit off.
local T = ...
local public = T.public
local type, error, select, rawget, rawset, tostring, next = type, error, select, rawget, rawset, tostring, next
local rawload, rawsetmetatable = load, setmetatable
local rawgetinfo, rawtraceback, metatable_of = debug.getinfo, debug.traceback, debug.getmetatable
local position, charge = T.position, T.charge
local sub, gsub, gmatch, concat = string.sub, string.gsub, string.gmatch, table.concat

local function fail(text) error(position() .. text, 0) end

local function copy(into, from, ...)
  for _, name in next, { ... } do into[name] = from[name] end
  return into
end

copy(public, _G, "assert", "error", "getmetatable", "ipairs", "next", "pairs", "rawequal", "rawget", "rawlen", "rawset", "select",
  "tonumber", "tostring", "type", "_VERSION")
public._G = public

function public.setmetatable(t, meta)
  if type(meta) == "table" and rawget(meta, "__gc") ~= nil then
    fail("__gc is not available (a finalizer cannot be interrupted): use a to-be-closed variable")
  end
  return rawsetmetatable(t, meta)
end

local collect = collectgarbage
function public.collectgarbage(option, ...)
  if option == "count" then return collect("count") end
  if option == nil or option == "collect" or option == "step" then
    charge(collect("count") * 1000)
    return collect(option or "collect", ...)
  end
  if option == "isrunning" then return true end
  fail("collectgarbage('" .. tostring(option) .. "') is not available: the host sets the collector")
end

local function written(separator, ...)
  local texts = { ... }
  for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
  T.output(concat(texts, separator))
end

function public.print(...) written("\t", ...) end

-- Source text. Byte code is refused: a crafted one can do anything to the process.

local PIECE = 4096

local function pieces(text)
  local at = 1
  return function()
    charge(PIECE * 40)
    local piece = sub(text, at, at + PIECE - 1)
    at = at + PIECE
    return piece
  end
end

local function compile(text, name, env)
  if #text <= PIECE then return rawload(text, name, "t", env) end
  return rawload(pieces(text), name, "t", env)
end

T.compile = compile

function public.load(chunk, name, _, ...)
  local env = public
  if select("#", ...) > 0 then env = ... end
  if name ~= nil and type(name) ~= "string" then fail("bad argument #2 to 'load' (string expected)") end
  local kind = type(chunk)
  if kind == "string" then return compile(chunk, name or chunk, env) end
  if kind ~= "function" then fail("bad argument #1 to 'load' (function expected, got " .. kind .. ")") end
  local parts, n = {}, 0
  while true do
    local piece = chunk()
    if piece == nil or piece == "" then break end
    if type(piece) ~= "string" then return nil, "reader function must return a string" end
    n = n + 1
    parts[n] = piece
  end
  return compile(concat(parts), name or "=(load)", env)
end

-- A file's chunk, or nil and why not.
local function chunk_of(path, env)
  local text, name = T.read_source(path)
  if not text then return nil, name end
  return compile(text, name, env)
end

function public.loadfile(path, _, ...)
  if type(path) ~= "string" then fail("bad argument #1 to 'loadfile' (string expected, got " .. type(path) .. ")") end
  if select("#", ...) > 0 then return chunk_of(path, (...)) end
  return chunk_of(path, public)
end

function public.dofile(path)
  if type(path) ~= "string" then fail("bad argument #1 to 'dofile' (string expected, got " .. type(path) .. ")") end
  local chunk, message = chunk_of(path, public)
  if not chunk then error(message, 0) end
  return chunk()
end

-- Modules.

local package = { loaded = { _G = public }, preload = {}, path = "./?.lua;./?/init.lua", config = package.config }
public.package = package

function package.searchpath(name, path, separator, replacement)
  local file = name
  if separator ~= "" then file = gsub(file, gsub(separator or ".", "%p", "%%%0"), (gsub(replacement or "/", "%%", "%%%%"))) end
  local tried = {}
  for template in gmatch(path, "[^;]+") do
    local candidate = gsub(template, "%?", (gsub(file, "%%", "%%%%")))
    if T.is_file(candidate) then return candidate end
    tried[#tried + 1] = "no file '" .. candidate .. "'"
  end
  return nil, concat(tried, "\n\t")
end

package.searchers = {
  function(name)
    local loader = package.preload[name]
    if loader then return loader, ":preload:" end
    return "no field package.preload['" .. name .. "']"
  end,
  function(name)
    local file, tried = package.searchpath(name, tostring(package.path))
    if not file then return tried end
    local chunk, message = chunk_of(file, public)
    if not chunk then error("error loading module '" .. name .. "' from file '" .. file .. "':\n\t" .. message, 0) end
    return chunk, file
  end,
}

function public.require(name)
  if type(name) ~= "string" then fail("bad argument #1 to 'require' (string expected, got " .. type(name) .. ")") end
  local loaded = package.loaded
  if loaded[name] then return loaded[name] end
  local tried = {}
  for _, search in next, package.searchers do
    local loader, extra = search(name)
    if type(loader) == "function" then
      local result = loader(name, extra)
      if result ~= nil then loaded[name] = result elseif loaded[name] == nil then loaded[name] = true end
      return loaded[name], extra
    end
    if type(loader) == "string" then tried[#tried + 1] = loader end
  end
  fail("module '" .. name .. "' not found:\n\t" .. concat(tried, "\n\t"))
end

-- debug: looking only, and at nothing of the host.

local function looked(info, by_function)
  if info and not by_function and (info.what == nil or info.what == "C" or info.source == nil or info.source == T.SOURCE) then
    info.func = nil
  end
  return info
end

public.debug = {
  traceback = function(...) return rawtraceback(...) end,
  getinfo = function(first, ...)
    if type(first) == "thread" then
      local level, what = ...
      return looked(rawgetinfo(first, level, what or "nSltuf"), type(level) == "function")
    end
    if type(first) == "number" then return looked(rawgetinfo(first + 1, (...) or "nSltuf"), false) end
    return looked(rawgetinfo(first, (...) or "nSltuf"), type(first) == "function")
  end,
}

-- io and os: files yes; no terminal, no child, no end of the process.

local function missing(name, why)
  return function() fail(name .. " is not available: " .. why) end
end

local rawopen, rawlines = io.open, io.lines
local TERMINAL = "there is no terminal to read from"
local BLOCKS = "it would block every other session"

local files = copy({}, io, "type", "tmpfile")
function files.open(path, mode)
  if type(path) == "string" then
    local refused = T.refused_file(path)
    if refused then return nil, path .. ": " .. refused, 1 end
  end
  return rawopen(path, mode)
end
function files.lines(path, ...)
  if type(path) ~= "string" then fail("io.lines needs a file name: " .. TERMINAL) end
  local refused = T.refused_file(path)
  if refused then fail(path .. ": " .. refused) end
  return rawlines(path, ...)
end
function files.close(file)
  if file == nil then fail("io.close needs a file") end
  return file:close()
end
local screen = {}
function screen.write(_, ...)
  written("", ...)
  return screen
end
screen.flush = function() return screen end
screen.setvbuf = function() return true end
screen.close = missing("closing the output", "it belongs to the host")
files.stdout, files.stderr = screen, screen
function files.write(...)
  written("", ...)
  return screen
end
for _, name in next, { "read", "input" } do files[name] = missing("io." .. name, TERMINAL) end
files.output = missing("io.output", "write to a file that io.open gave")
files.popen = missing("io.popen", BLOCKS)
public.io = files
metatable_of(io.stdout).__metatable = false

public.os = copy({}, os, "clock", "date", "difftime", "getenv", "remove", "rename", "time", "tmpname")
public.os.execute = missing("os.execute", BLOCKS)
public.os.exit = missing("os.exit", "the process is not this code's to end")
public.os.setlocale = missing("os.setlocale", "the locale belongs to the process")

public.math = copy({}, math, "abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor", "fmod", "huge", "log", "max",
  "maxinteger", "min", "mininteger", "modf", "pi", "rad", "random", "randomseed", "sin", "sqrt", "tan", "tointeger", "type", "ult")

for _, name in next, { "coroutine", "debug", "io", "math", "os", "package", "string", "table", "utf8" } do
  package.loaded[name] = public[name]
end
