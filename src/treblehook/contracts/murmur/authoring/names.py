"""What a hook may be called (murmur.md 2.2)."""

import re
from typing import Final

NAME_RULE: Final = "1 to 100 lower-case letters, digits and -, with no - at either end"
NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")


def is_hook_name(name: str) -> bool:
    """Whether `NAME_RULE` holds."""
    return NAME.fullmatch(name) is not None
