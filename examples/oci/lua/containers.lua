-- The containers: one for each workspace, kept as long as a session uses it.

local containers = {}

local config = {}

-- A global outlives a reload of the plugin, and so do the containers of the sessions that are open.
oci_containers = oci_containers or { by_workspace = {}, by_session = {} }
local by_workspace = oci_containers.by_workspace -- workspace -> { workspace, id, users, starting, failure }
local by_session = oci_containers.by_session -- session id -> the same table

local DEFAULTS = {
  program = "docker", -- podman takes the same arguments
  image = "docker.io/library/debian:stable-slim",
  run_args = {}, -- more arguments of `docker run`, such as { "--network", "none" }
  start_seconds = 60, -- how long a container may take to start; an image may have to be fetched
  seconds = 120, -- how long one tool call may take
}

function containers.configure(given)
  for key in pairs(given) do
    if DEFAULTS[key] == nil then
      error("unknown setting `" .. tostring(key) .. "` in [plugins.oci]")
    end
  end
  for key, default in pairs(DEFAULTS) do
    local value = given[key]
    if value == nil then
      value = default
    elseif type(value) ~= type(default) then
      error("[plugins.oci] " .. key .. " must be a " .. type(default) .. ", found a " .. type(value))
    end
    config[key] = value
  end
end

local function complaint(result)
  local text = result.stderr:gsub("%s+$", "")
  return text ~= "" and text or "exit status " .. tostring(result.exit_code)
end

local function start(workspace)
  local args = { "run", "--detach", "--rm", "--init", "--volume", workspace .. ":" .. workspace, "--workdir", workspace }
  table.move(config.run_args, 1, #config.run_args, #args + 1, args)
  table.move({ config.image, "sleep", "infinity" }, 1, 3, #args + 1, args)
  local result = cru.shell.exec(config.program, args, { timeout = config.start_seconds })
  if not result.success then
    error(config.program .. " run failed: " .. complaint(result), 0)
  end
  return (result.stdout:gsub("%s+", ""))
end

local function remove(container)
  local result = cru.shell.exec(config.program, { "rm", "--force", container.id }, { timeout = config.start_seconds })
  if not result.success then
    cru.log("warn", "container " .. container.id .. " was not removed: " .. complaint(result))
  end
end

-- Gives `session` the container of `workspace`, and starts it for the first one. Raises where there is none to be had.
function containers.acquire(session, workspace)
  local container = by_workspace[workspace]
  if container then
    container.users = container.users + 1
    while container.starting do
      cru.timer.sleep(0.01)
    end
  else
    container = { workspace = workspace, users = 1, starting = true }
    by_workspace[workspace] = container
    local started, answer = pcall(start, workspace)
    container.starting = false
    if started then
      container.id = answer
    else
      container.failure = answer
      by_workspace[workspace] = nil
    end
  end
  if container.failure then
    error("oci: no container for " .. workspace .. ": " .. tostring(container.failure), 0)
  end
  by_session[session] = container
end

-- Ends the use of a container; the last session of a workspace takes it away. A session without one is left alone.
function containers.release(session)
  local container = by_session[session]
  by_session[session] = nil
  if not container then
    return
  end
  container.users = container.users - 1
  if container.users == 0 then
    -- Whoever starts from here on gets a new one, however long the removal takes.
    by_workspace[container.workspace] = nil
    remove(container)
  end
end

function containers.of(session)
  return session and by_session[session]
end

-- Runs a program in the container; what it answers is what `cru.shell.exec` does.
function containers.exec(container, argv, options)
  options = options or {}
  local args = { "exec", "--interactive", "--workdir", container.workspace, container.id }
  table.move(argv, 1, #argv, #args + 1, args)
  return cru.shell.exec(config.program, args, { stdin = options.stdin, timeout = options.seconds or config.seconds })
end

return containers
