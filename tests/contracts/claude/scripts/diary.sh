#!/bin/sh
# PreCompact and SessionEnd: keep a diary beside this script.
jq -c '{event: .hook_event_name, why: (.trigger // .reason)}' >> "$(dirname "$0")/diary.jsonl"
echo "noted"
