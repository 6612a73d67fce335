#!/bin/sh
# SubagentStop: a subagent reports in a list.
jq 'if .stop_hook_active or (.last_assistant_message | startswith("- ")) then {}
    else {decision: "block", reason: ("Agent " + .agent_id + ": report as a list.")} end'
