-- cru.shell.spawn(program, args, options): a handle of the running program.
local start, wait, write, close_input, kill = ...

local Process = {}
Process.__index = Process

function Process:wait()
  self.result = self.result or wait(self.id)
  return self.result
end

function Process:write(text)
  write(self.id, text)
end

function Process:close_input()
  close_input(self.id)
end

function Process:kill()
  kill(self.id)
end

return function(...)
  local id, pid = start(...)
  return setmetatable({ id = id, pid = pid }, Process)
end
