"""Source files as Lua takes them."""

BOM = b"\xef\xbb\xbf"


def prepared(source: bytes) -> bytes:
    """Without a byte order mark, and with a first line `#!…` made a comment; line numbers stay."""
    source = source.removeprefix(BOM)
    return b"--" + source if source.startswith(b"#") else source
