-- What each tool of the host is in a container. Every function takes the container and the call's arguments, and answers a table.

local containers = require("containers")

local tools = {}

-- `script` gets the arguments as $1, $2, ...: nothing of a model's words is read as shell code.
local function sh(container, script, args, stdin)
  local argv = { "sh", "-c", script, "sh" }
  table.move(args, 1, #args, #argv + 1, argv)
  return containers.exec(container, argv, { stdin = stdin })
end

local function output(result)
  if result.success then
    return { output = result.stdout }
  end
  return { output = result.stdout, error = result.stderr ~= "" and result.stderr or "exit status " .. result.exit_code }
end

function tools.bash(container, args)
  local seconds = args.timeout_ms and args.timeout_ms / 1000
  local result = containers.exec(container, { "bash", "-c", args.command }, { seconds = seconds })
  return { exit_code = result.exit_code, stdout = result.stdout, stderr = result.stderr }
end

function tools.read(container, args)
  local first = args.offset or 1
  local range = first .. "," .. (first + (args.limit or 2000) - 1) .. "p"
  return output(containers.exec(container, { "sed", "-n", range, "--", args.path }))
end

local function write(container, path, content)
  return sh(container, 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"', { path }, content)
end

function tools.write(container, args)
  local result = write(container, args.path, args.content)
  if result.success then
    return { output = "wrote " .. #args.content .. " bytes to " .. args.path }
  end
  return output(result)
end

function tools.edit(container, args)
  local before = containers.exec(container, { "cat", "--", args.path })
  if not before.success then
    return output(before)
  end
  local text = before.stdout
  local first, last = text:find(args.old, 1, true)
  if not first then
    return { error = "the text does not occur in " .. args.path }
  end
  if text:find(args.old, first + 1, true) then
    return { error = "the text occurs more than once in " .. args.path .. "; take in more of the lines around it" }
  end
  local result = write(container, args.path, text:sub(1, first - 1) .. args.new .. text:sub(last + 1))
  return result.success and { output = "edited " .. args.path } or output(result)
end

function tools.glob(container, args)
  local script = 'shopt -s globstar nullglob; cd -- "$1" && IFS= && for path in $2; do printf "%s\\n" "$path"; done'
  return output(containers.exec(container, { "bash", "-c", script, "bash", args.path or ".", args.pattern }))
end

function tools.grep(container, args)
  local result = containers.exec(container, { "grep", "-rnIE", "--", args.pattern, args.path or "." })
  -- grep answers 1 where it found nothing.
  return result.exit_code == 1 and { output = "" } or output(result)
end

return tools
