"""Settings files as hypothesis draws them: every way to write the same JSON, and hooks of other people in it."""

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from hypothesis import strategies as st

from treblehook.gateway.agents import codec_of
from treblehook.gateway.install.places import DIALECTS, Dialect

KEYS = st.sampled_from(["", "a", "hooks", "model", "ключ", "\u2028", 'with "quotes"', "// no comment", "C:\\dir", "🦎"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), KEYS, st.text(st.characters(codec="utf-8"))
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8)
SPACES = st.sampled_from(["", "", "", " ", "  ", "\n", "\n  ", "\n\t", "\r\n    ", "\n\n"])
NOTES = st.sampled_from(["/* note */", '/* "hooks": [ */', "/**/", "/* two\nlines */", "// note\n", "// , ] }\r\n", " // behind\n  "])


def handler(agent: str, number: int) -> dict[str, Any]:
    """One that is somebody else's."""
    return {"type": "command", DIALECTS[agent].command_key: f"guard-{number} 'of mine'"}


def groups(agent: str) -> st.SearchStrategy[Any]:
    """An entry of somebody else's in the list of an event."""
    one = st.integers(0, 3).map(lambda number: handler(agent, number))
    if not DIALECTS[agent].grouped:
        return one
    matched = st.builds(lambda hooks: {"matcher": "Bash", "hooks": hooks}, st.lists(one, max_size=2))
    return st.builds(lambda hooks: {"hooks": hooks}, st.lists(one, max_size=2)) | matched


def settings(agent: str) -> st.SearchStrategy[dict[str, Any]]:
    """The values of a file: anything that it may hold, and hooks."""
    events = st.sampled_from([hooked.name for hooked in codec_of(agent).hooked] + ["SomethingElse"])
    hooks = st.dictionaries(events, st.lists(groups(agent), max_size=2), max_size=4)
    allowed = DIALECTS[agent].only
    others = st.dictionaries(KEYS.filter(lambda key: key != "hooks"), JSON, max_size=3)
    rest = st.fixed_dictionaries({}, optional={"description": st.text()}) if allowed else others
    return st.builds(_shuffled, rest, st.none() | hooks, st.randoms())


def _shuffled(rest: dict[str, Any], hooks: Any, random: Any) -> dict[str, Any]:
    items = [*rest.items(), *([] if hooks is None else [("hooks", hooks)])]
    random.shuffle(items)
    return dict(items)


@st.composite
def texts(draw: st.DrawFn, agent: str) -> str:
    """A file that this agent can read."""
    dialect = DIALECTS[agent]
    values = draw(settings(agent))
    if draw(st.booleans()):
        text = json.dumps(values, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(SPACES)
    else:
        gaps = cycle(draw(st.lists(_gaps(dialect), min_size=1, max_size=7)))
        text = next(gaps) + _inked(values, gaps) + next(gaps)
    return draw(st.sampled_from(["", "\ufeff"])) + text if dialect.marked else text


def _gaps(dialect: Dialect) -> st.SearchStrategy[str]:
    noted = st.builds(lambda before, note, behind: before + note + behind, SPACES, NOTES, SPACES)
    return st.one_of(SPACES, SPACES, SPACES, noted) if dialect.comments else SPACES


def _inked(value: Any, gaps: Iterator[str]) -> str:
    """The value with any space and any comment between its tokens."""
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    parts = []
    for key in value if isinstance(value, dict) else range(len(value)):
        name = json.dumps(key) + next(gaps) + ":" + next(gaps) if isinstance(value, dict) else ""
        parts.append(next(gaps) + name + _inked(value[key], gaps) + next(gaps))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + (",".join(parts) or next(gaps)) + closing
