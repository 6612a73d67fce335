#!/usr/bin/env python3
"""PreToolUse: nobody writes into .env files or keys."""

import json
import pathlib
import sys

data = json.load(sys.stdin)
target = data["tool_input"].get("file_path") or data["tool_input"].get("path") or ""

if pathlib.PurePath(target).name.startswith(".env") or target.endswith(".pem"):
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": f"{target} holds secrets",
                }
            }
        )
    )
else:
    print(
        json.dumps(
            {
                "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"},
                "suppressOutput": True,
            }
        )
    )
