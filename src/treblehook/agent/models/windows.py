"""The context windows of known model families, in tokens."""

# A window that is too small compacts early; one that is too large fails the request. So an entry is the smallest window among the
# members of its family that can work with tools, and a name that is not here has none until the user's settings give one.
_WINDOWS: dict[str, dict[str, int]] = {
    "anthropic": {"": 200_000},
    "google": {"gemini-": 1_000_000, "gemma-4": 262_144},
    "openai": {
        "gpt-4.1": 1_000_000,
        "gpt-4o": 128_000,
        "gpt-5": 400_000,
        "gpt-5.3-chat": 128_000,
        "gpt-6": 1_000_000,
        "gpt-oss": 131_072,
        "o1": 128_000,
        "o3": 200_000,
        "o4": 200_000,
    },
}
_WINDOWS["openai-responses"] = _WINDOWS["openai"]


def known_window(word: str, name: str) -> int | None:
    """The window of a provider's model; the longest family name that the model's name begins with counts."""
    families = _WINDOWS.get(word, {})
    family = max((family for family in families if name.startswith(family)), key=len, default=None)
    return None if family is None else families[family]
