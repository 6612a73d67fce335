-- The io library: files yes; no terminal, no child. Loaded at the first need.
local T = ...
local type, next, select = type, next, select
local fail, missing, written, screen = T.fail, T.missing, T.written, T.screen

local rawopen, rawlines = io.open, io.lines
local TERMINAL = "there is no terminal to read from"
local BLOCKS = "it would block every other session"

local files = {}
T.files = files

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
  if file == screen then fail("closing the output is not available: it belongs to the host") end
  if file == nil then fail("io.close needs a file") end
  return file:close()
end
function files.write(...)
  -- Also the method `write` of the output.
  if (...) == screen then written("", select(2, ...)) else written("", ...) end
  return screen
end
files.flush = function() return screen end
files.setvbuf = function() return true end
for _, name in next, { "read", "input" } do files[name] = missing("io." .. name, TERMINAL) end
files.output = missing("io.output", "write to a file that io.open gave")
files.popen = missing("io.popen", BLOCKS)
