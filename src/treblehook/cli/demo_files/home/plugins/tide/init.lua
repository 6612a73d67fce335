-- Answers in place of a command: what the model is told, no program has run for.
cru.on("pre_tool_call", { pattern = "bash", priority = 10 }, function(ctx, event)
  if event.args.command == "date" then
    return { handled = true, result = "two hours after high tide" }
  end
end)
