"""Programs that change a protected place without naming it: our own, and those of the agents."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from treblehook.host.agents import KNOWN_AGENTS
from treblehook.host.protected.places import Place
from treblehook.host.protected.readers import only_reads
from treblehook.shell.bash.commands import Simple
from treblehook.shell.bash.programs import SHELLS

_OURS: Final = frozenset({"install", "trust", "uninstall"})
_CHANGING: Final = {
    agent.program: (frozenset(agent.changing), f"the hook configuration of {agent.title}") for agent in KNOWN_AGENTS.values()
}
_CHANGING["treblehook"] = (_OURS, "what has the agents ask the hooks of Treblehook, and which of them run")

_IN_TEXT: Final = re.compile(rf"\b(?:{'|'.join(_CHANGING)})\b")
_HANDING_ON = """
    bunx command dlx doas env exec nice nohup npm npx pipx pnpm run stdbuf sudo time timeout tool uv uvx x xargs yarn
"""
_BEFORE: Final = frozenset(_HANDING_ON.split())
"""Programs, and words of theirs, that run what stands behind them."""
_VALUED: Final = frozenset({"-g", "-n", "-u"})
"""Options of theirs behind which a value stands."""
_ASIDE: Final = re.compile(r"-.*|\w+=.*|[\d.]+[smhd]?|(?:.*/)?(?:python|pypy)[\d.]*", re.DOTALL)
_SCRIPTED: Final = frozenset({*SHELLS, "eval", "ssh", "su", "watch"})
_QUOTES: Final = re.compile(r"['\"\\]")
_SEPARATORS: Final = re.compile(r"[;&|()\n]+")


def may_change(text: str) -> bool:
    """Whether a command line has one of these programs in it, as far as can be seen without taking it apart."""
    return _IN_TEXT.search(_QUOTES.sub("", text)) is not None


def changed_by(commands: Iterable[Simple]) -> Place | None:
    """What a command of these changes, though it names no path."""
    found = (_of(words) for command in commands if not only_reads(command) for words in _runs(command))
    return next((place for place in found if place is not None), None)


def _runs(command: Simple) -> Iterator[Sequence[str]]:
    """The words of a command, and those of the scripts that it is given."""
    words = [word.text for word in command.words]
    yield words
    if not _SCRIPTED.isdisjoint(word.rpartition("/")[2] for word in words):
        for text in (*words, *command.fed):
            yield from (part.split() for part in _SEPARATORS.split(text) if len(part.split()) > 1)


def _of(words: Sequence[str]) -> Place | None:
    rest = list(words)
    while rest and (rest[0] in _BEFORE or _ASIDE.fullmatch(rest[0])):
        rest = rest[2 if rest[0] in _VALUED else 1 :]
    if not rest:
        return None
    # As npm knows one: @openai/codex@0.171.0.
    program = rest[0].rpartition("/")[2].partition("@")[0]
    changing, what = _CHANGING.get(program, (frozenset(), ""))
    order = next((word for word in rest[1:] if word in changing), None)
    return None if order is None else Place(f"what `{program} {order}` is about", "", what)
