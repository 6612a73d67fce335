"""Splitting a command into the words that a program gets; no shell is involved (murmur.md 5.6)."""

from collections.abc import Iterator


def split_words(command: str) -> list[str]:
    """The words of `command`. Blanks separate, `'` and `"` quote, a backslash takes the next character as it is, inside quotes too.

    Empty quoted words vanish, an unclosed quote runs to the end, a lone backslash at the end disappears. Nothing is expanded, and
    operators are ordinary characters.
    """
    return [word for word in _words(command) if word]


def _words(command: str) -> Iterator[str]:
    word, quote = "", ""
    characters = iter(command)
    for character in characters:
        if character == "\\":
            word += next(characters, "")
        elif quote:
            if character == quote:
                quote = ""
            else:
                word += character
        elif character in "'\"":
            quote = character
        elif character.isspace():
            yield word
            word = ""
        else:
            word += character
    yield word
