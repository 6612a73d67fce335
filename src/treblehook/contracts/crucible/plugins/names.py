"""Which names a plugin may have."""

import re
from typing import Final

NAME_RULE: Final = 'letters, digits, "_" and "-", at most 64, the first a letter or a digit'
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def is_name(text: str) -> bool:
    """Whether `text` may be the name of a plugin; it is a key of `[plugins.NAME]` and a part of a URL."""
    return _NAME.fullmatch(text) is not None
