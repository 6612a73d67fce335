#!/usr/bin/env node
// SessionStart: tell the model where it is.
let body = "";
for await (const chunk of process.stdin) body += chunk;
const { source, cwd } = JSON.parse(body);

if (source === "compact") process.exit(0);
process.stdout.write(JSON.stringify({
  hookSpecificOutput: {
    hookEventName: "SessionStart",
    additionalContext: `Working in ${cwd} (${source}).`,
  },
}));
