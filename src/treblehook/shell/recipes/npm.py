"""`npm run SCRIPT` (murmur.md 5.7)."""

import json
import os
from collections.abc import Sequence

from treblehook.shell.recipes.files import Files, Unreadable


def npm_recipe(argv: Sequence[str], files: Files) -> str | None:
    """The script that `npm run` would run; None where something would run before or after it. Raises `Unreadable`."""
    if len(argv) != 2 or argv[0] not in ("run", "run-script") or argv[1].startswith("-"):
        return None
    text = files.text(os.path.join(files.root, "package.json"))
    if text is None:
        return None
    try:
        package = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("package.json is no JSON") from error
    scripts = package.get("scripts") if isinstance(package, dict) else None
    if not isinstance(scripts, dict) or f"pre{argv[1]}" in scripts or f"post{argv[1]}" in scripts:
        return None
    script = scripts.get(argv[1])
    # An empty script is none to npm.
    return script if isinstance(script, str) and script else None
