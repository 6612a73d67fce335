"""What `codex app-server` says and does about hooks, as far as it was recorded; `--fault` makes it go wrong in one way."""

import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["HOME"], ".codex")
STATE = FOLDER / "trusted.json"
FAULT = sys.argv[1]


def state() -> dict[str, str]:
    found: dict[str, str] = json.loads(STATE.read_text()) if STATE.exists() else {}
    return found


def hooks() -> list[dict[str, Any]]:
    file = FOLDER / "hooks.json"
    found = []
    for event, groups in json.loads(file.read_text())["hooks"].items():
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for at, group in enumerate(groups):
            for index, handler in enumerate(group["hooks"]):
                key = f"{file}:{snake}:{at}:{index}"
                digest = "sha256:" + hashlib.sha256(json.dumps(handler).encode()).hexdigest()
                status = "trusted" if state().get(key) == digest and FAULT != "forgets" else "untrusted"
                about = {"key": key, "currentHash": digest, "trustStatus": status, "sourcePath": str(file)}
                found.append({**about, "command": handler["command"], "enabled": True, "somethingNew": 1})
    return found


def write(edits: list[dict[str, Any]]) -> dict[str, Any]:
    trusted = state()
    for edit in edits:
        if edit["value"] is None:
            single = re.fullmatch(r'hooks\.state\."(.*)"', edit["keyPath"])
            trusted = {key: value for key, value in trusted.items() if single and key != single.group(1)}
        else:
            trusted |= {key: one["trusted_hash"] for key, one in edit["value"].items()}
    STATE.write_text(json.dumps(trusted))
    # What this program keeps in a file of its own, Codex keeps here.
    rows = "".join(f'\n[hooks.state.{json.dumps(key)}]\ntrusted_hash = "{value}"\n' for key, value in trusted.items())
    config = FOLDER / "config.toml"
    own = config.read_text().split("\n[hooks.state")[0] if config.exists() else ""
    config.write_text(own + rows)
    return {"status": "okOverridden" if FAULT == "overridden" else "ok"}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    if message["method"] == "hooks/list":
        return {"data": [{"cwd": "/", "hooks": hooks(), "warnings": [], "errors": ["cannot parse"] if FAULT == "unreadable" else []}]}
    if message["method"] == "config/batchWrite":
        return write(message["params"]["edits"])
    return {"userAgent": "stand-in"}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if FAULT == "ends" and message["method"] != "initialize":
        break
    if FAULT == "silent":
        time.sleep(1000)
    if FAULT == "garbage":
        print("Welcome to Codex!", flush=True)
    print(json.dumps({"method": "news", "params": {}}), flush=True)
    if FAULT == "refuses" and message["method"] == "hooks/list":
        print(json.dumps({"id": message["id"], "error": {"code": -32601, "message": "unknown method"}}), flush=True)
        continue
    print(json.dumps({"id": message["id"], "result": answer(message)}), flush=True)
