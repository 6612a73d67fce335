-- `mock`: stand-ins for what a plugin calls, and a record of every call.
--
-- What reaches outside answers only what a test told it to; what asks the host for something is recorded and does nothing; everything
-- else of `cru` is real, and recorded too.

local OUTSIDE = { http = true, shell = true, fs = true, kiln = true, graph = true, sessions = true, tools = true }
local SILENT = { ["cru.context.attach"] = true, ["cru.notify"] = true, ["cru.require_isolation"] = true }
-- Registrations and helpers: where they are called from matters, or they only call what they are given.
local LEFT_ALONE = { on = true, on_session_start = true, on_session_end = true, timer = true, json = true, schedule = true,
  permissions = true, check = true, retry = true, ratelimit = true, emitter = true, fmt = true }

local calls = {} -- path -> list of calls, each a list of arguments
local answers = {} -- path -> what stands in for it
local known = {} -- path -> true, for everything that can be mocked

local function copy(value, seen)
  if type(value) ~= "table" then
    return value
  end
  seen = seen or {}
  if not seen[value] then
    local new = {}
    seen[value] = new
    for key, item in pairs(value) do
      new[key] = copy(item, seen)
    end
  end
  return seen[value]
end

local function keep(path, ...)
  local arguments = table.pack(...)
  for place = 1, arguments.n do
    arguments[place] = copy(arguments[place])
  end
  arguments.n = nil
  local list = calls[path] or {}
  calls[path] = list
  list[#list + 1] = arguments
end

local function answered(answer, ...)
  if type(answer) == "function" then
    local results = table.pack(answer(...))
    return table.unpack(results, 1, results.n)
  end
  return copy(answer)
end

local function nothing() end

local function wrapped(path, original, outside)
  known[path] = true
  original = SILENT[path] and nothing or original
  return function(...)
    keep(path, ...)
    local answer = answers[path]
    if answer ~= nil then
      return answered(answer, ...)
    elseif outside then
      error(path .. " was called, and nothing stands in for it: mock.on(\"" .. path .. "\", answer)", 2)
    end
    return original(...)
  end
end

for name, value in pairs(cru) do
  local path = "cru." .. name
  if LEFT_ALONE[name] then
    -- It stays as it is.
  elseif type(value) == "table" then
    for inner, fn in pairs(value) do
      if type(fn) == "function" then
        rawset(value, inner, wrapped(path .. "." .. tostring(inner), fn, OUTSIDE[name]))
      end
    end
  elseif type(value) == "function" then
    rawset(cru, name, wrapped(path, value, OUTSIDE[name]))
  end
end

local mock = {}

local function check(path)
  if not known[path] then
    error("there is no " .. tostring(path) .. " that can be mocked", 3)
  end
end

-- From now on `path` answers `answer`: a value, or a function that is called with the same arguments.
function mock.on(path, answer)
  check(path)
  if answer == nil then
    error("mock.on takes a path and an answer", 2)
  end
  answers[path] = answer
end

-- Every call of `path` so far, each as the list of its arguments.
function mock.calls(path)
  check(path)
  return copy(calls[path] or {})
end

-- http: `url` may end in `*`; a method of `*` is any. The answer is a body, a table of `status`, `headers`, `body`, or a function of
-- the request { method, url, headers, body, json }. The rule that was told last wins.

mock.http = {}
local http_rules = {}

local function fits(pattern, text)
  if pattern:sub(-1) == "*" then
    return text:sub(1, #pattern - 1) == pattern:sub(1, -2)
  end
  return pattern == text
end

local function response(answer)
  local reply = type(answer) == "table" and answer or { body = tostring(answer) }
  local status = reply.status or 200
  return { status = status, ok = reply.ok == nil and status >= 200 and status < 300 or reply.ok or false,
    headers = reply.headers or {}, body = reply.body or "", error = reply.error }
end

local function requested(method, url, options)
  options = type(options) == "table" and options or {}
  for place = #http_rules, 1, -1 do
    local rule = http_rules[place]
    if fits(rule.method, method) and fits(rule.url, url) then
      local request = { method = method, url = url, headers = options.headers or {}, body = options.body, json = options.json }
      return response(answered(rule.answer, request))
    end
  end
  error("nothing answers " .. method .. " " .. tostring(url) .. ": mock.http.on(\"" .. method .. "\", url, answer)", 4)
end

function mock.http.on(method, url, answer)
  if type(method) ~= "string" or type(url) ~= "string" or answer == nil then
    error("mock.http.on takes a method, a url and an answer", 2)
  end
  http_rules[#http_rules + 1] = { method = method:upper(), url = url, answer = answer }
  for _, name in ipairs({ "get", "post", "put", "patch", "delete" }) do
    answers["cru.http." .. name] = function(at, options)
      local reply = requested(name:upper(), at, options)
      return reply
    end
  end
  answers["cru.http.request"] = function(options)
    local reply = requested((options.method or "GET"):upper(), options.url, options)
    return reply
  end
end

-- shell: `command` is the program, or `program first-argument`; the longest that fits wins. The answer is the standard output, a table of
-- `exit_code`, `stdout`, `stderr`, or a function of (program, args, options). One that raises is a program that cannot be started.

mock.shell = {}
local shell_rules = {}

function mock.shell.on(command, answer)
  if type(command) ~= "string" or answer == nil then
    error("mock.shell.on takes a command and an answer", 2)
  end
  shell_rules[command] = answer
  answers["cru.shell.exec"] = function(program, args, options)
    local answer = args and args[1] and shell_rules[program .. " " .. args[1]] or shell_rules[program]
    if answer == nil then
      error("nothing answers the command " .. tostring(program) .. ": mock.shell.on(\"" .. tostring(program) .. "\", answer)", 3)
    end
    answer = answered(answer, program, args, options)
    if type(answer) ~= "table" then
      answer = { stdout = tostring(answer) }
    end
    local exit_code = answer.exit_code or 0
    return { success = exit_code == 0, exit_code = exit_code, stdout = answer.stdout or "", stderr = answer.stderr or "" }
  end
end

return mock
