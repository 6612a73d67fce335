-- cru.ratelimit.new{capacity=5, interval=1}: a bucket of tokens, of which one comes back every `interval` seconds.
local options_of, clock, sleep = ...

local Limiter = {}
Limiter.__index = Limiter

local function refill(self)
  local now = clock()
  self.tokens = math.min(self.capacity, self.tokens + (now - self.at) / self.interval)
  self.at = now
end

function Limiter:try_acquire()
  refill(self)
  if self.tokens < 1 then
    return false
  end
  self.tokens = self.tokens - 1
  return true
end

function Limiter:acquire()
  while not self:try_acquire() do
    sleep((1 - self.tokens) * self.interval)
  end
end

function Limiter:remaining()
  refill(self)
  return math.floor(self.tokens)
end

return function(given)
  local options = options_of(given)
  return setmetatable({
    capacity = options.capacity,
    interval = options.interval,
    tokens = options.capacity,
    at = clock(),
  }, Limiter)
end
