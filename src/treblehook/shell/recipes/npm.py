"""`npm run SCRIPT` (murmur.md 5.7)."""

import json
import os
import re
from collections.abc import Sequence
from typing import Final

from treblehook.shell.recipes.files import Files, Unreadable

_SETTING: Final = re.compile(r"\s*(?:[;#].*|\[.*|(?!workspace)[A-Za-z0-9_.@:/-]+\s*(?:\[\]\s*)?(?:=.*)?)?")
"""A line of .npmrc that leaves npm in this folder: not one about workspaces, and none whose name is computed."""


def npm_recipe(argv: Sequence[str], files: Files) -> str | None:
    """The script that `npm run` would run; None where something would run before or after it. Raises `Unreadable`."""
    if len(argv) != 2 or argv[0] not in ("run", "run-script") or argv[1].startswith("-"):
        return None
    settings = files.text(os.path.join(files.root, ".npmrc")) or ""
    if not all(_SETTING.fullmatch(line) for line in settings.splitlines()):
        raise Unreadable(".npmrc may name other packages")
    text = files.text(os.path.join(files.root, "package.json"))
    if text is None:
        return None
    try:
        package = json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        raise Unreadable("package.json is no JSON") from error
    scripts = package.get("scripts") if isinstance(package, dict) else None
    if not isinstance(scripts, dict) or f"pre{argv[1]}" in scripts or f"post{argv[1]}" in scripts:
        return None
    script = scripts.get(argv[1])
    # An empty script is none to npm.
    return script if isinstance(script, str) and script else None


def _no_json(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
