"""How a session looks for notes before a turn."""

from typing import Annotated

from msgspec import Meta, Struct


class Precognition(Struct, frozen=True, forbid_unknown_fields=True):
    """At most `results` notes, and at most `char_budget` characters of all their texts together."""

    enabled: bool = True
    results: Annotated[int, Meta(ge=1, le=20)] = 5
    char_budget: Annotated[int, Meta(ge=0)] = 3000
