-- `docker` is a stand-in here; what it was told is looked up with `mock.calls`.

local function docker(command)
  local found = {}
  for _, call in ipairs(mock.calls("cru.shell.exec")) do
    if call[1] == "docker" and call[2][1] == command then
      found[#found + 1] = call
    end
  end
  return found
end

local function start(session, workspace)
  return session_start({ id = session, workspace = workspace })
end

local function call(tool, args, session)
  return fire("pre_tool_call", { tool = tool, args = args }, { session_id = session or "s1" })
end

-- What a handled call answered, decoded.
local function answer(tool, args)
  local outcome = call(tool, args)
  assert.equal("handled", outcome.status)
  return cru.json.decode(outcome.result)
end

before_each(function()
  mock.shell.on("docker run", "c0ffee\n")
  mock.shell.on("docker exec", "")
  mock.shell.on("docker rm", "")
end)

describe("loading", function()
  it("registers one handler per tool, and both session hooks", function()
    plugin.load()
    assert.same({ pre_tool_call = 6, on_session_start = 1, on_session_end = 1 }, plugin.state().handlers)
  end)

  it("claims the tools for itself", function()
    plugin.load()
    local claim = mock.calls("cru.require_isolation")[1][1]
    assert.same({ "bash", "read", "write", "edit", "glob", "grep" }, claim.tools)
  end)

  it("refuses settings that it does not know", function()
    assert.error(function()
      plugin.load({ imgae = "alpine" })
    end, "unknown setting `imgae`")
    assert.error(function()
      plugin.load({ seconds = "5" })
    end, "seconds must be a number, found a string")
  end)
end)

describe("a session", function()
  it("gets a container with its workspace in it", function()
    plugin.load({ image = "alpine", run_args = { "--network", "none" } })
    assert.equal("passed", start("s1", "/w").status)
    assert.same({
      "run", "--detach", "--rm", "--init", "--volume", "/w:/w", "--workdir", "/w", "--network", "none", "alpine", "sleep", "infinity",
    }, docker("run")[1][2])
  end)

  it("shares it with the other sessions of its workspace until the last one ends", function()
    start("s1", "/w")
    start("s2", "/w")
    start("s3", "/other")
    assert.equal(2, #docker("run"))

    session_end({ id = "s1" })
    assert.equal(0, #docker("rm"))
    session_end({ id = "s2" })
    assert.same({ "rm", "--force", "c0ffee" }, docker("rm")[1][2])
    assert.equal("handled", call("bash", { command = "ls" }, "s3").status)
    assert.equal("passed", call("bash", { command = "ls" }, "s1").status)
  end)

  it("waits where another one starts the container", function()
    mock.shell.on("docker run", function()
      cru.timer.sleep(5)
      return "c0ffee"
    end)
    plugin.load()
    local started = 0
    for place = 1, 2 do
      cru.timer.spawn(function()
        start("s" .. place, "/w")
        started = started + 1
      end)
    end
    clock.advance(4)
    assert.equal(0, started)
    clock.advance(2)
    assert.equal(2, started)
    assert.equal(1, #docker("run"))
  end)

  it("is refused with docker's words", function()
    mock.shell.on("docker run", { exit_code = 125, stderr = "Cannot connect to the Docker daemon\n" })
    local outcome = start("s1", "/w")
    assert.equal("denied", outcome.status)
    assert.contains("oci: no container for /w: docker run failed: Cannot connect to the Docker daemon", outcome.reason)
    session_end({ id = "s1" })
    assert.equal(0, #docker("rm"))
  end)

  it("is refused where there is no docker", function()
    mock.shell.on("docker", function()
      error("docker: not found", 0)
    end)
    mock.shell.on("docker run", function()
      error("docker: not found", 0)
    end)
    assert.contains("docker: not found", start("s1", "/w").reason)
  end)

  it("tries anew after a failure", function()
    mock.shell.on("docker run", { exit_code = 1 })
    start("s1", "/w")
    mock.shell.on("docker run", "c0ffee")
    assert.equal("passed", start("s2", "/w").status)
    assert.equal("handled", call("bash", { command = "ls" }, "s2").status)
  end)

  it("without a workspace starts, and has no container", function()
    assert.equal("passed", start("s1").status)
    assert.equal(0, #docker("run"))
    assert.equal("passed", call("bash", { command = "ls" }).status)
  end)

  it("keeps its container over a reload", function()
    start("s1", "/w")
    plugin.reload()
    assert.equal("handled", call("bash", { command = "ls" }).status)
    session_end({ id = "s1" })
    assert.equal(1, #docker("rm"))
  end)
end)

describe("a tool", function()
  before_each(function()
    plugin.load({ seconds = 7 })
    start("s1", "/w")
  end)

  it("runs a command in the container", function()
    mock.shell.on("docker exec", { exit_code = 3, stdout = "out", stderr = "err" })
    assert.same({ exit_code = 3, stdout = "out", stderr = "err" }, answer("bash", { command = "make; exit 3", timeout_ms = 1500 }))
    local called = docker("exec")[1]
    assert.same({ "exec", "--interactive", "--workdir", "/w", "c0ffee", "bash", "-c", "make; exit 3" }, called[2])
    assert.equal(1.5, called[3].timeout)
  end)

  it("reads lines", function()
    mock.shell.on("docker exec", "two\nthree\n")
    assert.same({ output = "two\nthree\n" }, answer("read", { path = "a.txt", offset = 2, limit = 2 }))
    assert.same({ "sed", "-n", "2,3p", "--", "a.txt" }, { table.unpack(docker("exec")[1][2], 6) })
    assert.equal(7, docker("exec")[1][3].timeout)
  end)

  it("writes through standard input, and no word of the model is shell code", function()
    assert.contains("wrote 5 bytes", answer("write", { path = "$(reboot)", content = "hello" }).output)
    local called = docker("exec")[1]
    assert.equal("$(reboot)", called[2][#called[2]])
    assert.not_contains("reboot", called[2][8])
    assert.equal("hello", called[3].stdin)
  end)

  it("edits what occurs once", function()
    mock.shell.on("docker exec", function(_, args, options)
      return args[6] == "cat" and "one two three" or ""
    end)
    assert.equal("edited a.txt", answer("edit", { path = "a.txt", old = "two", new = "2" }).output)
    assert.equal("one 2 three", docker("exec")[2][3].stdin)
    assert.contains("does not occur", answer("edit", { path = "a.txt", old = "four", new = "" }).error)
    assert.contains("more than once", answer("edit", { path = "a.txt", old = "e", new = "" }).error)
    assert.equal(4, #docker("exec"))
  end)

  it("finds files and lines", function()
    answer("glob", { pattern = "**/*.lua" })
    assert.same({ "bash", ".", "**/*.lua" }, { table.unpack(docker("exec")[1][2], 9) })
    mock.shell.on("docker exec", { exit_code = 1 })
    assert.same({ output = "" }, answer("grep", { pattern = "x", path = "src" }))
    mock.shell.on("docker exec", { exit_code = 2, stderr = "bad pattern" })
    assert.same({ output = "", error = "bad pattern" }, answer("grep", { pattern = "[" }))
  end)

  it("that fails in the container says so", function()
    mock.shell.on("docker exec", { exit_code = 1, stderr = "no such file" })
    assert.same({ output = "", error = "no such file" }, answer("read", { path = "a" }))
    assert.same({ output = "", error = "no such file" }, answer("write", { path = "a", content = "" }))
    assert.same({ output = "", error = "no such file" }, answer("edit", { path = "a", old = "x", new = "" }))
  end)

  it("is denied where docker is gone, and never runs on the host", function()
    mock.shell.on("docker exec", function()
      error("docker: not found", 0)
    end)
    local outcome = call("bash", { command = "ls" })
    assert.equal("denied", outcome.status)
    assert.contains("docker: not found", outcome.reason)
  end)

  it("of another name is left alone", function()
    assert.same({}, call("note_search", {}).handlers)
  end)
end)
