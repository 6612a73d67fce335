"""Text that can be written down."""


def whole(text: str) -> str:
    """`text` with `?` for every half of a surrogate pair, which escapes of JSON and YAML can make and UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
