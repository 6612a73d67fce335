-- cru.retry(fn, options): call `fn` until it does not raise.
local options_of, sleep, random = ...

return function(fn, given)
  local options = options_of(fn, given)
  local attempt = 0
  while true do
    local answer = table.pack(pcall(fn))
    if answer[1] then
      return table.unpack(answer, 2, answer.n)
    end
    local problem = answer[2]
    attempt = attempt + 1
    if attempt > options.max_retries then
      error(problem, 0)
    end
    if options.retryable and not options.retryable(problem) then
      error(problem, 0)
    end
    local delay = math.min(options.max_delay, options.base_delay * 2 ^ (attempt - 1))
    if options.jitter then
      delay = delay * (0.5 + random() / 2)
    end
    -- A server that says how long to wait is believed.
    if type(problem) == "table" and type(problem.after) == "number" then
      delay = math.max(delay, problem.after)
    end
    sleep(delay)
  end
end
