"""The hooks that come with a workspace in Claude Code's settings files, and the scripts beside them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from treblehook.contracts.claude.settings.loading import KEYS
from treblehook.contracts.vera.json_text import NotJson, parsed
from treblehook.home.trust.snapshot import Snapshot, read_file, read_tree

SETTINGS_FOLDER: Final = Path(".claude")
SETTINGS_FILES: Final = ("settings.json", "settings.local.json")
SCRIPTS: Final = "hooks"


class WorkspaceSettings(Snapshot, frozen=True):
    """What `<workspace>/.claude` says of hooks, and everything below its folder `hooks`, where their scripts usually are.

    `settings` are the whole files, which are read on from here; of them only the hooks count, as `files` has them, so that another
    setting may change (Claude Code writes down each permission that it is given). What lies elsewhere and a hook starts is not covered.
    """

    kind: ClassVar[str] = "claude-settings"
    domain: ClassVar[bytes] = b"treblehook workspace claude settings 1\0"
    settings: Mapping[str, bytes] = {}


def read_settings(workspace: Path) -> WorkspaceSettings | None:
    """The settings of a workspace; None where they say nothing of hooks. Raises `Untrustable` for what cannot be hashed as a whole."""
    folder = workspace / SETTINGS_FOLDER
    whole = {name: read_file(folder / name) for name in SETTINGS_FILES if os.path.lexists(folder / name)}
    counting = {name: part for name, content in whole.items() if (part := hooks_part(content)) is not None}
    if not counting:
        return None
    scripts = read_tree(folder / SCRIPTS) if os.path.lexists(folder / SCRIPTS) else {}
    files = {**counting, **{f"{SCRIPTS}/{name}": content for name, content in scripts.items()}}
    return WorkspaceSettings(folder, files, {name: content for name, content in whole.items() if name in counting})


def hooks_part(content: bytes) -> bytes | None:
    """What a settings file says of hooks, as JSON in one spelling; None where it says nothing. A file that cannot be read counts whole,
    since it may say something later."""
    try:
        settings = parsed(content.decode(), finite=False)
    except (UnicodeDecodeError, NotJson):
        return content
    if not isinstance(settings, dict):
        return content
    # An empty list of hooks is none; in the other keys every value means something.
    said = {key: settings[key] for key in KEYS if key in settings and (key != "hooks" or settings[key])}
    return json.dumps(said, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace") if said else None
