"""The few arguments of a recipe runner that are understood; with any other there is no answer."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from treblehook.shell.recipes.files import Unreadable


class Arguments(Struct, frozen=True):
    """Options by what they mean, and the one word that is left: the target or recipe."""

    options: dict[str, str]
    name: str


def read_arguments(argv: Sequence[str], apart: Mapping[str, str], joined: Mapping[str, str]) -> Arguments:
    """`apart` are options whose value is the next word, `joined` those with `=`; each names what it means, given once at most.

    Raises `Unreadable` for anything else, and where not exactly one other word is left.
    """
    options: dict[str, str] = {}
    names: list[str] = []
    words = iter(argv)
    for word in words:
        option, equals, value = word.partition("=")
        if word in apart:
            _set(options, apart[word], next(words, ""))
        elif equals and option in joined:
            _set(options, joined[option], value)
        elif word.startswith("-") or equals:
            raise Unreadable(f"{word} is not understood")
        else:
            names.append(word)
    if len(names) != 1:
        raise Unreadable("not exactly one recipe is named")
    return Arguments(options, names[0])


def _set(options: dict[str, str], meaning: str, value: str) -> None:
    if meaning in options or not value:
        raise Unreadable(f"the {meaning} is given twice, or not at all")
    if value == "-" or value.startswith("~"):
        raise Unreadable(f"the {meaning} {value} is no path below the folder")
    options[meaning] = value
