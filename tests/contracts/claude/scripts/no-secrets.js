#!/usr/bin/env node
// UserPromptSubmit: stop prompts that carry an API key.
const fs = require("fs");

const { prompt, hook_event_name } = JSON.parse(fs.readFileSync(0, "utf8"));

if (/sk-[A-Za-z0-9]{16,}/.test(prompt)) {
  console.log(JSON.stringify({ decision: "block", reason: "The prompt holds an API key. Take it out first." }));
} else {
  console.log(JSON.stringify({
    hookSpecificOutput: { hookEventName: hook_event_name, additionalContext: "No secrets were found." },
  }));
}
