"""Where a conversation stands in a script; everything is read from the messages, so nothing is remembered between requests."""

import re
import zlib

from msgspec import Struct

from treblehook.agent.models.model import ModelQuery
from treblehook.agent.models.script.file import Script, ScriptedTurn, Where
from treblehook.lifecycle import Message

_DONE = ScriptedTurn(text="Done.")
_OK = ScriptedTurn(text="ok")


class Position(Struct, frozen=True):
    """The turn to play and its index. `newest` is the newest prompt or tool result, `tag` tells conversations apart."""

    turn: ScriptedTurn
    index: int
    newest: str
    tag: str


def find_position(script: Script, query: ModelQuery) -> Position:
    """The first route that matches gives the turns, else the script's own; its turn number is that of the replies so far."""
    texts = _texts(query)
    tag = f"{zlib.crc32(texts['first'].encode()):08x}"
    index = _replies(query.messages)
    turns = script.turns
    for route in script.routes:
        if route.match in texts[route.where]:
            turns = route.turns
            break
    else:
        if not query.tools and script.aux is not None:
            return Position(script.aux or _OK, 0, texts["last"], tag)
    played = [turn for turn in turns for _ in range(turn.repeat)]
    return Position(played[index] if index < len(played) else script.after or _DONE, index, texts["last"], tag)


def _texts(query: ModelQuery) -> dict[Where, str]:
    """The texts in which a route may look for its match."""
    prompts = [message.text for message in query.messages if message.role == "user"]
    heard = [message.text for message in query.messages if message.role in ("user", "tool")]
    system = [query.system, *(message.text for message in query.messages if message.role == "system")]
    opening = []
    for message in query.messages:
        if message.role == "assistant":
            break
        if message.role == "user":
            opening.append(message.text)
    return {"first": "\n".join(opening), "last": heard[-1] if heard else "", "any": "\n".join(prompts), "system": "\n".join(system)}


def _replies(messages: tuple[Message, ...]) -> int:
    """Replies so far: runs of assistant messages, or what our own call ids say where a compaction has shortened the history."""
    runs, tagged, previous = 0, 0, ""
    for message in messages:
        if message.role == "assistant" and previous != "assistant":
            runs += 1
        if message.role != "system":
            previous = message.role
        for call in message.calls:
            if found := re.search(r"_t(\d+)x\d+", call.id):
                tagged = max(tagged, int(found[1]) + 1)
    return max(runs, tagged)
