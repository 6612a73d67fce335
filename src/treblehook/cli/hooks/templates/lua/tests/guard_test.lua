local function bash(command)
  return fire("pre_tool_call", { tool = "bash", args = { command = command } })
end

describe("the guard", function()
  it("keeps the treasure", function()
    local outcome = bash("rm treasure/chest")
    assert.equal("cancelled", outcome.status)
    assert.contains("Leave the treasure where it is.", outcome.reason)
  end)

  it("lets everything else pass", function()
    assert.equal("passed", bash("ls treasure").status)
    assert.equal("passed", fire("pre_tool_call", { tool = "read", args = { path = "rm treasure" } }).status)
  end)

  it("guards what it is told to", function()
    plugin.load({ guarded = "map" })
    assert.equal("cancelled", bash("rm map").status)
    assert.equal("passed", bash("rm treasure").status)
  end)
end)

it("tells the model", function()
  local outcome = fire("transform_context", { messages = { { role = "user", content = "hello" } } })
  assert.contains("The treasure is guarded", outcome.messages[1].content)
end)
