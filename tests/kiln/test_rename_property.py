"""Whatever a note is called and wherever it goes: links that meant it mean it afterwards, and all others what they meant."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from treblehook.kiln.files.paths import PathRefused, checked_path
from treblehook.kiln.parsing import Link, link_key, links_of
from treblehook.kiln.renaming.meaning import Meaning
from treblehook.kiln.renaming.rewriting import Move, Unlinkable

NAMES = st.sampled_from(["a", "b", "A", "Straße", "é", "a b", "a.b", "(c)", "100%", "d'e", "x&y", "q?", "n", "寶", "a,b;c", "=+@", "-"])
FOLDERS = st.sampled_from(["", "x/", "y/", "x/y/", "X/", "a b/", "%20/"])
SUFFIXES = st.sampled_from([".md", ".md", ".md", ".markdown", ".txt", ".MD"])
PATHS = st.builds(lambda folder, name, suffix: folder + name + suffix, FOLDERS, NAMES, SUFFIXES)


def meaning(paths: set[str]) -> Meaning:
    keys: dict[str, list[str]] = {}
    for path in paths:
        keys.setdefault(link_key(path), []).append(path)
    return Meaning(keys)


@st.composite
def texts(draw: st.DrawFn, paths: list[str]) -> str:
    """A note with links of every kind to some of these paths."""
    parts = []
    for _ in range(draw(st.integers(0, 6))):
        path = draw(st.sampled_from(paths))
        whole = path.rsplit(".", 1)[0]
        written = draw(st.sampled_from([whole, whole.rsplit("/", 1)[-1], path, f"./{path}", f"../{whole}"]))
        encoded = written.replace("%", "%25").replace(" ", "%20").replace("(", "%28").replace(")", "%29").replace("?", "%3F")
        form = draw(
            st.sampled_from([f"[[{written}]]", f"![[{written}#h|x]]", f"[t]({encoded})", f"[t](<{encoded}#h>)", f"`[[{written}]]`"])
        )
        parts.append(draw(st.sampled_from(["", "text ", "\n", "- "])) + form)
    return " ".join(parts)


@settings(deadline=None)
@given(st.data())
def test_links_mean_after_a_rename_what_they_meant_before(data: st.DataObject) -> None:
    paths = data.draw(st.lists(PATHS, min_size=2, max_size=6, unique=True))
    source, holder = paths[0], data.draw(st.sampled_from(paths))
    destination = data.draw(PATHS)
    assume(destination not in paths)
    try:
        checked_path(destination)
    except PathRefused:
        assume(False)
    text = data.draw(texts(paths))
    before, after = meaning(set(paths)), meaning({*paths[1:], destination})
    here = destination if holder == source else holder

    try:
        rewritten = Move(source, destination, before, after, lambda path: False).rewritten(holder, text)
    except Unlinkable:
        assume(False)
        return

    old, new = links_of(text), links_of(rewritten)
    assert len(new) == len(old)
    for was, now in zip(old, new, strict=True):
        meant = before.of(was, holder)
        if meant == source:
            assert after.of(now, here) == destination, (was, now)
        elif holder != source:
            assert now.target == was.target
        elif meant is not None and is_relative(was):
            assert after.of(now, here) == meant or after.of(now, here) is None, (was, now)
    assert outside(rewritten, new) == outside(text, old), "nothing but targets changes"


def is_relative(link: Link) -> bool:
    return link.kind == "markdown" or link.target.startswith(("./", "../"))


def outside(text: str, links: list[Link]) -> list[str]:
    """The text between the targets."""
    places = [0, *(place for link in links for place in (link.start, link.end)), len(text)]
    return [text[start:end] for start, end in zip(places[::2], places[1::2], strict=True)]
