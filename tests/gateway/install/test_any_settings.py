"""Whatever stands in a settings file: what was put in is taken out again, byte for byte, and nothing else is touched."""

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.gateway.install.texts import groups, texts
from treblehook.gateway.agents import codec_of
from treblehook.gateway.install.entries import Form, HttpAccess, entries_of
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.settings import Settings
from treblehook.gateway.lines import ClientPlace

AGENTS = list(DIALECTS)
HOMES = st.sampled_from(["/home/me/.treblehook", '/home/my "own" folder/it\'s', "/Users/žofie/$HOME/`x`", "/a\\b/{}[]//"])
_STRING_OR_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)


def plain(text: str) -> Any:
    """The values, read by somebody else's reader."""
    return json.loads(_STRING_OR_COMMENT.sub(lambda match: match.group(1) or " ", text.removeprefix("\ufeff")))


def comments(text: str) -> list[str]:
    return [match.group() for match in _STRING_OR_COMMENT.finditer(text) if match.group(1) is None]


def settings_of(agent: str) -> Settings:
    return Settings(agent, "/settings.json", DIALECTS[agent])


@st.composite
def entries(draw: st.DrawFn, agent: str) -> dict[str, Any]:
    """What an installation puts in, for some of the agent's events."""
    names = draw(st.lists(st.sampled_from([hooked.name for hooked in codec_of(agent).hooked]), unique=True, min_size=1))
    forms: list[Form] = ["open", "closed", *(["http"] if agent in ("claude-code", "qwen") else [])]
    home = Path(draw(HOMES))
    place = ClientPlace(home, home / "gateway.sock", draw(st.sampled_from([None, "/usr/bin/curl"])))
    http = HttpAccess("http://127.0.0.1:8777", draw(st.sampled_from(["", "key"])))
    return entries_of(agent, {name: draw(st.sampled_from(forms)) for name in names}, DIALECTS[agent], place, http)


@given(st.sampled_from(AGENTS), st.data())
def test_what_was_put_in_is_taken_out_byte_for_byte(agent: str, data: st.DataObject) -> None:
    text, put = data.draw(texts(agent)), data.draw(entries(agent))
    settings = settings_of(agent)

    installed = settings.put_in(text, put, {})

    assert installed.text is not None
    assert settings.taken_out(installed.text, installed.before).text == text
    # The copy of the first version tells as much as the record.
    told = settings.found_in(text, settings.own(installed.text))
    assert settings.taken_out(installed.text, told).text == text


@given(st.sampled_from(AGENTS), st.data())
def test_twice_is_once(agent: str, data: st.DataObject) -> None:
    text, put = data.draw(texts(agent)), data.draw(entries(agent))
    settings = settings_of(agent)
    once = settings.put_in(text, put, {})

    assert settings.put_in(once.text, put, once.before) == once


@given(st.sampled_from(AGENTS), st.data())
def test_another_installation_in_between_leaves_no_trace(agent: str, data: st.DataObject) -> None:
    text, first, second = data.draw(texts(agent)), data.draw(entries(agent)), data.draw(entries(agent))
    settings = settings_of(agent)

    once = settings.put_in(text, first, {})
    again = settings.put_in(once.text, second, once.before)

    assert again.text is not None
    assert {event: [handler for *_, handler in each] for event, each in settings.own(again.text).items()} == {
        event: part["hooks"] if DIALECTS[agent].grouped else [part] for event, part in second.items()
    }
    assert settings.taken_out(again.text, again.before).text == text


@given(st.sampled_from(AGENTS), st.data())
def test_ours_comes_last_and_everything_else_stays_where_it_is(agent: str, data: st.DataObject) -> None:
    text, put = data.draw(texts(agent)), data.draw(entries(agent))
    installed = settings_of(agent).put_in(text, put, {}).text
    assert installed is not None

    before, after = plain(text), plain(installed)

    assert [key for key in after if key in before] == list(before)
    for event, entry in put.items():
        assert after["hooks"][event] == [*before.get("hooks", {}).get(event, []), entry]
    assert {**after, "hooks": None} == {**before, "hooks": None}
    others = {event: listed for event, listed in after["hooks"].items() if event not in put}
    assert others == {event: listed for event, listed in before.get("hooks", {}).items() if event not in put}
    assert sorted(comments(installed)) == sorted(comments(text))


@given(st.sampled_from(AGENTS), st.data())
def test_what_the_user_adds_afterwards_is_kept(agent: str, data: st.DataObject) -> None:
    text, put, theirs = data.draw(texts(agent)), data.draw(entries(agent)), data.draw(groups(agent))
    settings = settings_of(agent)
    installed = settings.put_in(text, put, {})
    assert installed.text is not None
    edited = plain(installed.text)
    event = next(iter(put))
    edited["hooks"][event].insert(data.draw(st.integers(0, len(edited["hooks"][event]))), theirs)
    edited["hooks"]["NewEvent"] = [theirs]

    left = settings.taken_out(json.dumps(edited, indent=3), installed.before).text

    assert left is not None
    made = [event for event in put if event not in plain(text).get("hooks", {})]
    hooks = {event: [part for part in listed if part != put.get(event)] for event, listed in edited["hooks"].items()}
    assert plain(left) == {**edited, "hooks": {event: listed for event, listed in hooks.items() if listed or event not in made}}
