-- What ends a run that takes too long or too much, and the coroutines in which runs go on.
-- `T` is shared by the files of the prelude and never reaches the user's code.
local T = ...
local error, select, type, rawequal, setmetatable = error, select, type, rawequal, setmetatable
local rawpcall, rawxpcall, collect = pcall, xpcall, collectgarbage
local sethook, getinfo, traceback, gsub = debug.sethook, debug.getinfo, debug.traceback, string.gsub
local create, rawresume, rawyield = coroutine.create, coroutine.resume, coroutine.yield
local running, yieldable, rawstatus, rawclose = coroutine.running, coroutine.isyieldable, coroutine.status, coroutine.close
local cpu_time, soft_kilobytes = T.cpu_time, T.soft_kilobytes

-- Instructions between two looks at the clock: as a rule, with much memory in use, and after a stretch of slow instructions (joining
-- huge strings).
local OFTEN, BIG, SLOW = 1000, 100, 10
local BIG_KILOBYTES, SLOW_SECONDS = 16384, 0.002
-- Seconds that to-be-closed variables get once a run must end.
local GRACE = 0.02
-- Work of C functions (about a nanosecond each) between two looks at the clock.
local CHUNK = 1000000

local budget = T.cpu_seconds
local began, last = false, 0  -- CPU time at the first look of this stretch
local fatal = nil             -- why the run must end; nothing catches it
local nowait = false          -- a run that must come to its end without waiting
local pace = OFTEN
local work = 0
local main = running()
local inside = 0              -- runs under way that must not wait
local workers = setmetatable({}, { __mode = "k" })  -- coroutines that the driver resumes
local waiting = setmetatable({}, { __mode = "k" })  -- coroutines below which something waits
local traces = setmetatable({}, { __mode = "k" })

local function full()
  collect()
  if collect("count") > soft_kilobytes then
    if not fatal then fatal = T.MEMORY end
    error(fatal, 0)
  end
end

local tick

local function slow_down(wanted)
  if wanted < pace then
    pace = wanted
    sethook(tick, "", wanted)
  end
end

tick = function()
  if inside == 0 and running() == main then
    -- The host's own calls, between runs, are nobody's time.
    began = false
    return
  end
  local now = cpu_time()
  if not began then
    began = now
  elseif now - began > budget then
    if not fatal then
      fatal = T.CPU
      began = now - budget + GRACE
    end
    error(fatal, 0)
  elseif now - last > SLOW_SECONDS then
    slow_down(SLOW)
  end
  last = now
  local kilobytes = collect("count")
  if kilobytes > BIG_KILOBYTES then
    slow_down(BIG)
    if kilobytes > soft_kilobytes and not fatal then full() end
  end
end

-- Counts work that the hook cannot see: about `amount` nanoseconds inside of a C function.
local function charge(amount)
  work = work + amount
  if work > CHUNK then
    work = 0
    tick()
  end
end

-- Where the user's code is: the nearest Lua function on the stack that is not of the prelude.
local function place(co)
  local level = co and 0 or 1
  while true do
    local info
    if co then info = getinfo(co, level, "Sl") else info = getinfo(level, "Sl") end
    if not info then return nil, nil end
    if info.what ~= "C" and info.source ~= T.SOURCE then return info.short_src, info.currentline end
    level = level + 1
  end
end

local function position()
  local source, line = place()
  return source and source .. ":" .. line .. ": " or ""
end

-- An error of a C function that the prelude calls for the user has neither the user's line nor the function's name: it gets both.
-- `level`: where the function that raised it is on the stack of `co`, or of the handler that calls this.
local function placed(e, co, level)
  if type(e) ~= "string" or fatal then return e end
  local raised, caller
  if co then raised, caller = getinfo(co, level, "Sf"), getinfo(co, level + 1, "Sf")
  else raised, caller = getinfo(level + 1, "Sf"), getinfo(level + 2, "Sf") end
  if not raised or raised.what ~= "C" or raised.func == error or not caller or caller.source ~= T.SOURCE then return e end
  local source, line = place(co)
  local name = T.name_of(caller.func)
  if name then e = gsub(e, "'%?'", "'" .. name .. "'", 1) end
  return source and source .. ":" .. line .. ": " .. e or e
end

local function handled(e)
  e = placed(e, nil, 2)
  return e
end

local function settle(ok, ...)
  if fatal then error(fatal, 0) end
  return ok, ...
end

local function protected(f, ...) return rawxpcall(f, handled, ...) end

local function pcall(...)
  if select("#", ...) == 0 then error(position() .. "bad argument #1 to 'pcall' (value expected)", 0) end
  return settle(protected(...))
end

local function xpcall(f, handler, ...)
  if type(handler) ~= "function" then
    error(position() .. "bad argument #2 to 'xpcall' (function expected, got " .. type(handler) .. ")", 0)
  end
  return settle(rawxpcall(f, function(e)
    if fatal then return fatal end
    return handler(placed(e, nil, 2))
  end, ...))
end

-- Coroutines of the user. A wait inside of one travels up to the driver through every resume.

local WAIT = {}
local step

local function travel(co)
  local here = running()
  waiting[here] = true
  if workers[here] then return rawyield(1) end
  return rawyield(WAIT)
end

local function arrived(co, ...)
  waiting[running()] = nil
  waiting[co] = nil
  return rawresume(co, ...)
end

step = function(co, ok, mark, ...)
  if fatal then
    -- Its to-be-closed variables are closed with the run.
    if not ok then rawclose(co) end
    error(fatal, 0)
  end
  if ok and rawequal(mark, WAIT) then
    if not yieldable() then
      T.abandon()
      return step(co, arrived(co, 2, T.NOT_HERE))
    end
    return step(co, arrived(co, travel(co)))
  end
  if not ok then return false, placed(mark, co, 0) end
  return ok, mark, ...
end

local function check(co, name)
  if type(co) ~= "thread" then
    error(position() .. "bad argument #1 to '" .. name .. "' (coroutine expected)", 0)
  end
end

local function new(f)
  if type(f) ~= "function" then
    error(position() .. "bad argument #1 to 'create' (function expected)", 0)
  end
  local co = create(f)
  sethook(co, tick, "", pace)
  return co
end

local function resume(co, ...)
  check(co, "resume")
  if workers[co] or waiting[co] then return false, "cannot resume non-suspended coroutine" end
  return step(co, rawresume(co, ...))
end

local function status(co)
  check(co, "status")
  if co == running() then return "running" end
  if workers[co] or waiting[co] then return "normal" end
  return rawstatus(co)
end

local function close(co)
  check(co, "close")
  if workers[co] or waiting[co] then error(position() .. "cannot close a " .. status(co) .. " coroutine", 0) end
  return settle(rawclose(co))
end

local function passed(co, ok, e, ...)
  if ok then return e, ... end
  if rawstatus(co) == "dead" then
    local closed, other = rawclose(co)
    if fatal then error(fatal, 0) end
    if not closed then e = other end
  end
  if type(e) == "string" then e = position() .. e end
  error(e, 0)
end

local function wrap(f)
  local co = new(f)
  return function(...)
    if waiting[co] then error(position() .. "cannot resume non-suspended coroutine", 0) end
    return passed(co, step(co, rawresume(co, ...)))
  end
end

local function yield(...)
  if workers[running()] then
    error(position() .. "attempt to yield from outside a coroutine (nobody resumes the code that the host called)", 0)
  end
  return rawyield(...)
end

local function isyieldable()
  return yieldable() and not workers[running()]
end

local function current()
  local co, main = running()
  return co, main or workers[co] ~= nil
end

-- Functions of the host.

local function receive(code, ...)
  if code == nil then return end
  if code == 0 then return T.build(...) end
  if code == 3 then
    fatal = T.HOST
    error(fatal, 0)
  end
  local message = ...
  if code == 1 then message = position() .. message end
  error(message, 0)
end

local function provided(call, raw, name)
  local flatten = T.flatten_arguments
  return function(...)
    if collect("count") > soft_kilobytes then full() end
    T.calling = running()
    if select("#", ...) == 1 then
      local a = ...
      local kind = type(a)
      if kind == "string" or kind == "number" or kind == "boolean" then return receive(call(false, a)) end
    end
    return receive(call(flatten(raw, name, ...)))
  end
end

local function arrive(code, ...)
  began, fatal, nowait, work = false, nil, false, 0
  waiting[running()] = nil
  return receive(code, ...)
end

-- `at_once`, if there is one, stands in where the run may not wait.
local function provided_waiting(call, name, at_once)
  local flatten = T.flatten_arguments
  return function(...)
    if fatal then error(fatal, 0) end
    if at_once and (nowait or not yieldable()) then return at_once(...) end
    if nowait then error(position() .. T.NO_WAIT, 0) end
    if not yieldable() then error(position() .. T.NOT_HERE, 0) end
    if collect("count") > soft_kilobytes then full() end
    local here = running()
    T.calling = here
    local code, message = call(flatten(false, name, ...))
    if code ~= nil then return receive(code, message) end
    waiting[here] = true
    if workers[here] then return arrive(rawyield(1)) end
    return arrive(rawyield(WAIT))
  end
end

-- Runs.

local function caught(e)
  if not fatal then
    e = placed(e, nil, 2)
    local source, line = place()
    traces[running()] = { source or false, line or false, traceback(nil, 2) or "" }
  end
  return e
end

local function failure(e)
  local here = running()
  local trace = traces[here]
  traces[here] = nil
  if fatal then return 3, fatal end
  local ok, text = rawpcall(T.describe, e)
  if fatal then text = T.LOOPING
  elseif not ok then text = "an error object whose __tostring fails" end
  if not trace then return 4, text, false, false, "" end
  return 4, text, trace[1], trace[2], trace[3]
end

local function outcome(ok, ...)
  began = false
  if pace < OFTEN then
    pace = OFTEN
    sethook(tick, "", OFTEN)
  end
  if fatal then return failure(fatal) end
  if ok then return ... end
  return failure((...))
end

local entries = {}
T.entries = entries

local function serve(k, ...)
  began, fatal, nowait, work = false, nil, false, 0
  return serve(rawyield(outcome(rawxpcall(entries[k], caught, ...))))
end

local function worker()
  local co = create(function(...) return serve(rawyield()) end)
  workers[co] = true
  sethook(co, tick, "", OFTEN)
  rawresume(co)
  return co
end

-- A run that must not wait, on the coroutine that asks for it, possibly inside of another run.
local function attempt(k, ...)
  return outcome(rawxpcall(entries[k], caught, ...))
end

local function ended(b, f, n, s, t, ok, ...)
  local broken = fatal
  inside = inside - 1
  began, fatal, nowait, budget, T.calling = b, f, n, s, t
  if ok then return ... end
  return 3, broken or T.describe((...))
end

local function now(seconds, k, ...)
  local b, f, n, s, t = began, fatal, nowait, budget, T.calling
  inside = inside + 1
  began, fatal, nowait, budget = false, nil, true, seconds
  return ended(b, f, n, s, t, rawpcall(attempt, k, ...))
end

sethook(tick, "", OFTEN)

T.set_budget = function(seconds) budget = seconds end
T.caller = function() return place(T.calling) end
T.charge, T.position, T.place, T.tick, T.now, T.worker = charge, position, place, tick, now, worker
T.provided, T.provided_waiting = provided, provided_waiting
T.settle = settle
T.public.pcall, T.public.xpcall = pcall, xpcall
T.public.coroutine = {
  create = new, resume = resume, status = status, close = close, wrap = wrap, yield = yield,
  isyieldable = isyieldable, running = current,
}
