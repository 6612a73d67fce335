"""`cru.fmt`: texts for people. `cru.fmt("Hello {name}", {name = "world"})` fills in; the rest is in `text.py`."""

import re

from treblehook.contracts.crucible.library import text
from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import COUNT, NUMBER, OCTETS, SECONDS, TABLE, TEXT, WORD, list_of
from treblehook.contracts.crucible.library.library import Library
from treblehook.contracts.crucible.plain import number_text


def install(library: Library) -> None:
    library.provide_lua("cru.fmt", "fmt", _fill)
    for function in (truncate, trim, indent, plural, size, duration, table):
        library.lua.provide(f"cru.fmt.{function.__name__}", function)


def _fill(*given: object) -> bytes:
    """A name without a value stays as it is, with its braces."""
    call = Arguments("cru.fmt", given)
    template, values = text.characters(call.take("template", OCTETS)), call.may_take("values", TABLE, {})

    def value(found: re.Match[str]) -> str:
        filled = values.get(found[1])
        match filled:
            case bool():
                return "true" if filled else "false"
            case int() | float():
                return number_text(filled)
            case str():
                return filled
            case bytes():
                return text.characters(filled)
        return found[0]

    return text.octets_of(re.sub(r"\{(\w+)\}", value, template))


def truncate(*given: object) -> bytes:
    """At most so many characters; the ending (`…`) counts."""
    call = Arguments("cru.fmt.truncate", given)
    whole, limit, ending = call.take("text", OCTETS), call.take("characters", COUNT), call.may_take("ending", TEXT, "…")
    return text.octets_of(text.truncated(text.characters(whole), limit, ending))


def trim(*given: object) -> bytes:
    """Without white space at both ends."""
    return text.octets_of(text.characters(Arguments("cru.fmt.trim", given).take("text", OCTETS)).strip())


def indent(*given: object) -> bytes:
    """Every line that is not empty, so many spaces (2) or a text further in."""
    call = Arguments("cru.fmt.indent", given)
    whole = text.characters(call.take("text", OCTETS))
    by = " " * call.may_take("by", COUNT, 2) if len(given) < 2 or isinstance(given[1], int) else call.take("by", TEXT)
    return text.octets_of(text.indented(whole, by))


def plural(*given: object) -> str:
    """`plural(3, "note")` is `3 notes`; a third argument is the plural itself."""
    call = Arguments("cru.fmt.plural", given)
    count, one = call.take("count", NUMBER), call.take("one", WORD)
    return text.plural(count, one, call.may_take("many", WORD, f"{one}s"))


def size(*given: object) -> str:
    """A number of bytes."""
    return text.size(Arguments("cru.fmt.size", given).take("bytes", SECONDS))


def duration(*given: object) -> str:
    """A number of seconds."""
    return text.duration(Arguments("cru.fmt.duration", given).take("seconds", SECONDS))


def table(*given: object) -> str:
    """Rows of cells as columns; a second list is the header."""
    call = Arguments("cru.fmt.table", given)
    return text.table(call.take("rows", list_of(list_of(TEXT))), call.may_take("header", list_of(TEXT), []))
