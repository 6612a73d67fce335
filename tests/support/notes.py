"""Notes as people write them, thousands of them, the same for the same seed: for tests and benchmarks."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_WORDS_TEXT: Final = """
anchor ballast beacon binnacle bosun bowsprit cabin capstan cargo chart chest coast compass cove crew crossing current deck dock
doubloon drift ebb fathom fleet fog galley gunwale harbor hatch helm hold horizon hull island jib keel knot lagoon lantern ledger
mast map mooring mutiny oar palm parley pilot port quay reef rigging rope rudder rum sail sand shoal signal spyglass squall
starboard storm strait tide timber treasure trench trade voyage watch wave wharf wind wreck yard
"""
_WORDS: Final = tuple(_WORDS_TEXT.split())
_PLAIN_TEXT: Final = """
the a of and to in that it was with for on as we they from by at had not were but one all when which there out then some could
over into before after long under while again never still because between without
"""
_PLAIN: Final = tuple(_PLAIN_TEXT.split())
_FOREIGN: Final = (
    "Überfahrt", "Köder", "naïveté", "señal", "façade", "Ærø", "航海日誌", "寶藏", "плавание", "маяк", "ναύτης", "سفينة", "žraločí",
    "crème", "日本海", "한국어",
)  # fmt: skip
_EMOJI: Final = ("🏴‍☠️", "🧭", "⚓", "🌊")
_FOLDERS: Final = (
    "", "Daily", "Daily/2025", "Daily/2026", "Inbox", "People", "Projects/Island", "Projects/Island/Survey/North",
    "Projects/Ship Yard", "Reference", "Ärchiv/Länder", "地図",
)  # fmt: skip
_TAGS: Final = ("ship", "crew", "island/north", "island/south", "todo", "wörter", "2026-plan", "寶藏", "log")


def write_notes(root: Path, count: int = 2_000, *, seed: int = 1) -> list[str]:
    """Write `count` notes below `root`, which is made; answers their paths inside it, sorted."""
    paths = []
    for path, data in notes(count, seed=seed):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        paths.append(path)
    return sorted(paths)


def notes(count: int = 2_000, *, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Paths and contents of `count` notes.

    Among them: front matter of every kind and none, broken ones too; wikilinks with aliases, headings and embeds; links in code, which
    are none; stems that are there twice; titles and paths beyond ASCII; CRLF, byte order marks, bytes that are no UTF-8; empty notes
    and some of half a megabyte; canvases and texts.
    """
    chance = random.Random(seed)
    paths = _paths(count, chance)
    for number, path in enumerate(paths):
        yield path, _content(path, number, paths, chance)


def _paths(count: int, chance: random.Random) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        number = len(found)
        folder = chance.choice(_FOLDERS)
        if folder.startswith("Daily/"):
            stem = f"{folder[-4:]}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}" + ("" if chance.random() < 0.3 else f" {number}")
        elif number % 40 == 0:
            # The same stem in several folders.
            stem = chance.choice(("index", "README", "Notes"))
        else:
            words = chance.sample(_WORDS, 2) + ([chance.choice(_FOREIGN)] if chance.random() < 0.15 else [])
            stem = f"{' '.join(words).capitalize()} {number}"
        suffix = ".md" if number % 50 else chance.choice((".markdown", ".canvas", ".txt", ".MD"))
        found[f"{folder}/{stem}{suffix}".lstrip("/")] = None
    return list(found)


def _content(path: str, number: int, paths: list[str], chance: random.Random) -> bytes:
    if number % 97 == 3:
        return b""
    if path.endswith(".canvas"):
        return _canvas(paths, chance).encode()
    text = _front_matter(number, chance) + _body(number, paths, chance)
    if number % 401 == 5:
        text += "\n".join(_paragraph(chance) for _ in range(1_200))
    if number % 17 == 4:
        text = text.replace("\n", "\r\n")
    data = text.encode()
    if number % 31 == 6:
        data = b"\xef\xbb\xbf" + data
    if number % 89 == 8:
        data += b"\n\xff\xfe a note from another time: caf\xe9\n"
    return data


def _front_matter(number: int, chance: random.Random) -> str:
    title = f"{chance.choice(_WORDS).capitalize()} of {chance.choice((*_WORDS, *_FOREIGN))}"
    tags = chance.sample(_TAGS, chance.randint(0, 3))
    kind = number % 10
    if kind < 3:
        return ""
    if kind < 6:
        return f"---\ntitle: {title}\ntags: [{', '.join(tags)}]\ncreated: 2026-0{chance.randint(1, 9)}-11\n---\n"
    if kind == 6:
        listed = "".join(f"  - {tag}\n" for tag in tags) or "  []\n"
        return f'---\naliases:\n  - "{title} (old)"\ntags:\n{listed}rating: {chance.randint(1, 5)}\n---\n\n'
    if kind == 7:
        return f"---\ntags: {' '.join(f'#{tag}' for tag in tags)}\nauthor: Bøsun\n---\n"
    if kind == 8:
        return f"---\ntitle: '{title}'\nrelated: \"[[index]]\"\n...\n"
    return f"---\ntitle: {title}: part two\n  tags: [unclosed\n---\n" if number % 20 == 9 else "---\n---\n"


def _body(number: int, paths: list[str], chance: random.Random) -> str:
    parts = []
    if number % 4:
        parts.append(f"# {chance.choice(_WORDS).capitalize()} {chance.choice((*_WORDS, *_FOREIGN, *_EMOJI))}")
    for _ in range(chance.randint(1, 5)):
        if chance.random() < 0.4:
            parts.append(f"{'#' * chance.randint(2, 4)} {chance.choice(_WORDS).capitalize()}")
        parts.append(_paragraph(chance))
        parts.append(_linked(paths, chance))
        if chance.random() < 0.2:
            parts.append(_code(paths, chance))
    return "\n\n".join(parts) + "\n"


def _paragraph(chance: random.Random) -> str:
    words = [chance.choice(_PLAIN if chance.random() < 0.6 else _WORDS) for _ in range(chance.randint(20, 90))]
    if chance.random() < 0.3:
        words.insert(3, f"#{chance.choice(_TAGS)}")
    if chance.random() < 0.2:
        words.insert(5, chance.choice((*_FOREIGN, *_EMOJI)))
    return " ".join(words).capitalize() + "."


def _linked(paths: list[str], chance: random.Random) -> str:
    path = chance.choice(paths)
    whole = path.rsplit(".", 1)[0]
    stem = whole.rsplit("/", 1)[-1]
    written = chance.choice(
        (
            f"[[{stem}]]", f"[[{stem}|the {chance.choice(_WORDS)}]]", f"[[{whole}#Map]]", f"![[{stem}]]", f"[[{stem}#Chart|there]]",
            f"[{chance.choice(_WORDS)}]({path.replace(' ', '%20')})", f"[[nowhere {chance.randint(1, 99)}]]", "https://example.org/#top",
        )
    )  # fmt: skip
    return f"- {chance.choice(_WORDS)}: {written}\n- [ ] {chance.choice(_WORDS)}"


def _code(paths: list[str], chance: random.Random) -> str:
    stem = chance.choice(paths).rsplit(".", 1)[0].rsplit("/", 1)[-1]
    return chance.choice(
        (
            f"```sh\n# not a heading\necho '[[{stem}]]' #nottag\n```",
            f"~~~\n[[{stem}]]\n~~~",
            f"Type `[[{stem}]]` or ``a ` [[{stem}]]`` to link.",
            f"    [[{stem}]] is code\n    #too",
        )
    )


def _canvas(paths: list[str], chance: random.Random) -> str:
    return (
        f'{{"nodes":[{{"id":"1","type":"file","file":"{chance.choice(paths)}","x":0,"y":0}},'
        f'{{"id":"2","type":"text","text":"# {chance.choice(_WORDS)}\\nsee [[index]]"}}],"edges":[]}}'
    )
