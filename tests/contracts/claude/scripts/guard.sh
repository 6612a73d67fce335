#!/usr/bin/env bash
# PreToolUse: keep the shell away from recursive deletes.
set -euo pipefail

input=$(cat)
tool=$(jq -r '.tool_name' <<<"$input")
command=$(jq -r '.tool_input.command // empty' <<<"$input")

if [[ "$tool" == "Bash" ]] && grep -qE '(^|[;&| ])rm +-[a-z]*r' <<<"$command"; then
  echo "Recursive deletes are not allowed here: $command" >&2
  exit 2
fi
