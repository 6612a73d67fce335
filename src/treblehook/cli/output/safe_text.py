"""Text from a model, a hook or a tool, made safe for a terminal."""

from typing import Final

# C0 without tab and line feed, DEL, C1: they would move the cursor, change a title, or write to the clipboard. The bidirectional
# controls would show a command in another order than it has.
_HARMFUL: Final = (*range(0x00, 0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SEEN: Final = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _HARMFUL}


def safe(text: str) -> str:
    """`text` with control characters written out, as in `\\x1b`; line ends become line feeds."""
    return text.replace("\r\n", "\n").translate(_SEEN)


def one_line(text: str, longest: int = 200) -> str:
    """`text` on one line: its first line, and how many more there are."""
    lines = safe(text).strip().split("\n")
    first = lines[0] if len(lines[0]) <= longest else f"{lines[0][: longest - 1]}…"
    return first if len(lines) == 1 else f"{first} (+{len(lines) - 1} lines)"
