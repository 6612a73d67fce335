"""Keys of hook entries that loading passes over (vera.md 2.1), so that they do not do what they seem to."""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from treblehook.contracts.vera.config import VeraConfig
from treblehook.contracts.vera.json_text import parsed
from treblehook.host.problems import Problem

_KNOWN: Final = ("phase", "argv", "protocol", "timeout_ms")
_FILTERS: Final = ("matcher", "pattern")


def ignored_keys(config: VeraConfig) -> Iterator[Problem]:
    """A warning for each key that no entry has."""
    if not config.hooks:
        return
    content = parsed(Path(config.file).read_text(encoding="utf-8-sig"), finite=False)
    for hook, entry in zip(config.hooks, content["hooks"], strict=True):
        for key in entry:
            if key in _FILTERS:
                message = f"this key is ignored: {hook.name} is not filtered, it runs for every tool"
                remedy = "look at the tool's name in the hook itself, and take the key out"
                yield Problem(config.file, f"{hook.place}.{key}", message, remedy, "warning")
            elif key not in _KNOWN:
                close = difflib.get_close_matches(key.lower(), _KNOWN, n=1)
                remedy = f"did you mean {close[0]}?" if close else f"an entry has {', '.join(_KNOWN)}"
                yield Problem(config.file, f"{hook.place}.{key}", "this key is ignored", remedy, "warning")
