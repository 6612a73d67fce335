-- The user's globals: the standard library without what could stop the process, block the loop or take a limit off.
local T = ...
local public = T.public
local type, error, select, rawget, rawset, tostring, next = type, error, select, rawget, rawset, tostring, next
local rawload, rawsetmetatable = load, setmetatable
local metatable_of = debug.getmetatable
local position, charge = T.position, T.charge
local sub, concat = string.sub, table.concat

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

-- Functions of a file of the prelude that is loaded when the first of them is called: a VM that needs none of them stays small.
local function later(file, into, ...)
  for _, name in next, { ... } do
    into[name] = function(...)
      T.need(file)
      return T[file][name](...)
    end
  end
end

local package = { loaded = { _G = public }, preload = {}, path = "./?.lua;./?/init.lua", config = package.config }
public.package = package
later("modules", public, "require", "loadfile", "dofile")
later("modules", package, "searchpath")
package.searchers = {}
later("modules", package.searchers, 1, 2)
public.table = { pack = table.pack }
later("tables", public.table, "concat", "insert", "move", "remove", "sort", "unpack")

-- debug: looking only.
public.debug = {}
later("looking", public.debug, "traceback", "getinfo")

-- os and io: files yes; no terminal, no child, no end of the process.

local function missing(name, why)
  return function() fail(name .. " is not available: " .. why) end
end
T.missing, T.written, T.fail = missing, written, fail
T.tointeger, T.min, T.max, T.maxinteger = math.tointeger, math.min, math.max, math.maxinteger
T.metatable_of, T.rawgetinfo, T.rawtraceback = metatable_of, debug.getinfo, debug.traceback

local files = copy({}, io, "type", "tmpfile")
later("files", files, "open", "lines", "close", "write", "read", "input", "output", "popen")
local screen = {}
later("files", screen, "write", "flush", "setvbuf", "close")
files.stdout, files.stderr = screen, screen
public.io = files
T.screen = screen
metatable_of(io.stdout).__metatable = false

public.os = os
public.os.execute = missing("os.execute", "it would block every other session")
public.os.exit = missing("os.exit", "the process is not this code's to end")
public.os.setlocale = missing("os.setlocale", "the locale belongs to the process")

public.math = math

for _, name in next, { "coroutine", "debug", "io", "math", "os", "package", "string", "table", "utf8" } do
  package.loaded[name] = public[name]
end
