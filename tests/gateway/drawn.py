"""What hypothesis draws for codecs: JSON, answers of hooks, and captured payloads with one place spoiled."""

import copy
from typing import Any

from hypothesis import strategies as st

from treblehook.gateway.values import NO_OPINION, AddText, Answer, AskUser, GoOn, Granted, Patched, Refused, RunRewritten

TEXTS = st.one_of(st.text(), st.sampled_from(["", " ", "\n", "\r\n\t", "\0", "\u2028", "\U0001f9ed", '"}', "x" * 1_000_000]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
INPUTS = st.dictionaries(
    st.sampled_from(["command", "path", "content", "old", "new", "task", "pattern"]) | st.text(max_size=5), JSON, max_size=4
)
ANSWERS: st.SearchStrategy[Answer] = st.one_of(
    st.just(NO_OPINION),
    st.just(Granted()),
    st.builds(AddText, TEXTS),
    st.builds(Refused, TEXTS, st.booleans()),
    st.builds(AskUser, TEXTS, st.none() | INPUTS),
    st.builds(RunRewritten, INPUTS),
    st.builds(Patched, TEXTS, st.booleans()),
    st.builds(GoOn, TEXTS),
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every field in `value`, however deep."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, part in parts for path in ((*here, key), *places(part, (*here, key)))]


@st.composite
def spoiled(draw: st.DrawFn, payload: dict[str, Any]) -> dict[str, Any]:
    """`payload` with one field missing, or of any other value and type."""
    found = copy.deepcopy(payload)
    *above, last = draw(st.sampled_from(places(payload)))
    holder: Any = found
    for key in above:
        holder = holder[key]
    if draw(st.booleans()):
        del holder[last]
    else:
        holder[last] = draw(JSON)
    return found
