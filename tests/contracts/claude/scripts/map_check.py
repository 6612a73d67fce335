#!/usr/bin/env python3
"""Stop: a reply that says done needs a map, once."""

import json
import sys

turn = json.load(sys.stdin)
if turn["stop_hook_active"]:
    sys.exit(0)
if "done" in turn["last_assistant_message"] and "map" not in turn["last_assistant_message"]:
    print("Where is the map?", file=sys.stderr)
    sys.exit(2)
