"""What a note says: title, headings, tags, links; and that nothing can make the parser fail."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.notes import notes
from treblehook.kiln.parsing import ParsedNote, link_key, links_of, parse
from treblehook.kiln.parsing.code import without_code


def parsed(text: str) -> ParsedNote:
    return parse(text, "stem")


def targets(text: str) -> list[str]:
    return [link.target for link in parsed(text).links]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From front matter\n---\n# Heading", "From front matter"),
        ("---\ntitle: 007\n---\n", "007"),
        ("---\ntitle: 2026-01-02\n---\n", "2026-01-02"),
        ('---\ntitle: "Quoted: yes"\n---\n', "Quoted: yes"),
        ("---\ntitle: >\n  folded\n  title\n---\n", "folded title"),
        ("---\r\ntitle: Carriage\r\n---\r\n# no", "Carriage"),
        ("\ufeff---\ntitle: Marked\n---\n", "Marked"),
        ("---\ntitle: dots\n...\n", "dots"),
        ("---\ntitle:\n---\n# Heading", "Heading"),
        ("---\ntitle: null\n---\n# Heading", "Heading"),
        ("---\ntitle: [a, b]\n---\n# Heading", "Heading"),
        ("---\ntitle: broken: yaml: here\n  - x\n---\n# Heading", "Heading"),
        ("---\n- a list\n---\n# Heading", "Heading"),
        ("---\ntitle: never closed\n# Heading", "Heading"),
        ("text\n\n## Second level first", "Second level first"),
        ("# Closed ##", "Closed"),
        ("#\n# Real", "Real"),
        ("Underlined\n==========\n", "Underlined"),
        ("Also underlined\n---\n", "Also underlined"),
        ("- item\n---\n", "stem"),
        ("```\n# code\n```\n", "stem"),
        ("    # indented code\n", "stem"),
        ("#tag is no heading", "stem"),
        ("", "stem"),
        ("\ufeff", "stem"),
    ],
)
def test_the_title_is_of_the_front_matter_else_the_first_heading_else_the_stem(text: str, title: str) -> None:
    assert parsed(text).title == title


def test_headings_come_in_order_without_code() -> None:
    text = "# One\n\n~~~\n# no\n~~~\n\nTwo\n---\n\n### Three `#4` ###\n"

    assert parsed(text).headings == ("One", "Two", "Three `#4`")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("---\ntags: [a, b]\n---\n#c", ("a", "b", "c")),
        ("---\ntags:\n  - a\n  - '#b'\n---\n", ("a", "b")),
        ("---\ntags: a, b c\n---\n", ("a", "b", "c")),
        ("---\ntag: one\ntags: two\n---\n", ("two", "one")),
        ("---\ntags: [2026, null, {x: y}, [z]]\n---\n", ("2026",)),
        ("#Ship and #ship and #SHIP", ("Ship",)),
        ("#nested/tag #trailing/ (#bracketed), #comma, #dot.", ("nested/tag", "trailing", "bracketed", "comma", "dot")),
        ("#123 #2026-plan #1a", ("2026-plan", "1a")),
        ("#寶藏 #wörter #🏴‍☠️", ("寶藏", "wörter", "🏴‍☠️")),
        ("a#b https://x.org/#anchor [[note#heading]] [[a #b]] [x](#y) \\#escaped", ()),
        ("`#code` and\n```\n#more\n```\n", ()),
        ("# heading\n## heading #tag", ("tag",)),
    ],
)
def test_tags_come_from_the_front_matter_and_the_text(text: str, tags: tuple[str, ...]) -> None:
    assert parsed(text).tags == tags


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[a]] ![[b]] [[c|alias]] [[d#heading]] [[e#^block|alias]]", ["a", "b", "c", "d", "e"]),
        ("| [[in a table\\|alias]] |", ["in a table"]),
        ("[[ spaced ]] [[folder/note.md]] [[../up]]", ["spaced", "folder/note.md", "../up"]),
        ("[[#only a heading]] [[]] [[|x]] \\[[escaped]] [[a\nb]] [[a[b]] [ [c]]", []),
        ('[x](note.md) ![y](a%20b.md#part) [z](<c d.md>) [t](e.md "title")', ["note.md", "a b.md", "c d.md", "e.md"]),
        ("[x](https://a.org/n.md) [x](mailto:a@b) [x](#here) [x](/root.md) [x]()", []),
        ("[x](a(1).md) [ref]: not/at/the/start.md\n[ref]: real/ref.md", ["a(1).md", "real/ref.md"]),
        ("`[[code]]` ``[[a`b]]`` [[real]]", ["real"]),
        ("`unclosed [[real]]\n\nnext `para` [[too]]", ["real", "too"]),
        ("```\n[[code]]\n```\n[[real]]", ["real"]),
        ("````\n```\n[[code]]\n````\n[[real]]", ["real"]),
        ("> ```\n> [[code]]\n> ```\n> [[real]]", ["real"]),
        ("- item\n  ```\n  [[code]]\n  ```\n- [[real]]", ["real"]),
        ("```\nnever closed [[code]]", []),
        ("text\n\n    [[code]]\n\n[[real]]", ["real"]),
        ("- item\n    - [[nested item]]\n\n    [[still the item]]", ["nested item", "still the item"]),
        ("---\nrelated: '[[front]]'\n---\n[[body]]", ["front", "body"]),
    ],
)
def test_links_are_found_where_they_are_links(text: str, found: list[str]) -> None:
    assert targets(text) == found


def test_a_link_says_where_it_is_written() -> None:
    text = "é [[ Note#part|alias ]] and [x](<a b.md#y>)"

    assert [text[link.start : link.end] for link in parsed(text).links] == ["Note", "a b.md"]


def test_a_canvas_is_its_cards_and_its_files() -> None:
    text = json.dumps(
        {"nodes": [{"type": "file", "file": "Däily/a.md"}, {"type": "text", "text": "# Card\n[[b]] #tag"}, {"type": "group", "label": "G"}]}
    )

    note = parse(text, "board", canvas=True)

    assert (note.title, note.tags, note.headings, note.body) == ("board", ("tag",), ("Card",), "# Card\n[[b]] #tag\n\nG")
    assert [(link.kind, link.target) for link in note.links] == [("canvas", "Däily/a.md"), ("wiki", "b")]


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"nodes": 5}', '{"nodes": [5, {"text": 7}]}', "[" * 100_000, '{"file": "\\ud800"}'])
def test_what_is_no_canvas_is_no_error(text: str) -> None:
    assert parse(text, "board", canvas=True).title == "board"


@pytest.mark.parametrize(
    "text",
    ["- " * 50_000, "[" * 50_000, "{a: " * 50_000, "&a [*a]", "a: &a [*a]", '"\\UFFFFFFFF"', "!!python/object:x y", "a: " + "x" * 200_000],
)
def test_front_matter_that_would_hurt_a_yaml_parser_is_none(text: str) -> None:
    assert parsed(f"---\n{text}\n---\n# Heading\n").title == "Heading"


@given(st.text() | st.text(st.sampled_from("-# \n\r\t`~[]()|!<>\\:\"'#a/.{}&*é\ud800\ufeff")))
@example("---\n---\n")
def test_nothing_makes_the_parser_fail(text: str) -> None:
    for canvas in (False, True):
        note = parse(text, "stem", canvas=canvas)
        assert note.title
        note.title.encode()
        json.dumps(note.tags).encode()
        for link in note.links:
            assert 0 <= link.start < link.end <= len(text)
            assert link.target


@given(
    st.lists(st.sampled_from(["`", "``", "```", "~~~", "\n", "\n\n", "    ", "\t", "- ", "> ", "[[a]]", "x", "\\", "\r\n"]), max_size=40)
)
def test_taking_code_out_keeps_every_place(parts: list[str]) -> None:
    text = "".join(parts)
    plain = without_code(text)

    assert len(plain) == len(text)
    assert all(one in (other, " ") for one, other in zip(plain, text, strict=True))
    assert [at for at, one in enumerate(plain) if one in "\r\n"] == [at for at, one in enumerate(text) if one in "\r\n"]


@given(
    st.text(st.characters(exclude_characters="[]|#\n\r\\", exclude_categories=["Cs"]), min_size=1).filter(lambda text: bool(text.strip())),
    st.sampled_from(["", "#part", "#^block"]),
    st.sampled_from(["", "|alias", "|a b c"]),
)
def test_a_wikilink_is_read_as_it_is_written(target: str, anchor: str, alias: str) -> None:
    if "`" in target:
        return
    text = f"before [[{target}{anchor}{alias}]] after"

    [link] = links_of(text)

    assert text[link.start : link.end] == link.target == target.strip()


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("Folder/Note.md", "note"),
        ("NOTE", "note"),
        ("a.b.txt", "a.b"),
        (".md", ".md"),
        ("x.canvas", "x"),
        ("e\u0301", "é"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
    ],
)
def test_links_and_notes_meet_by_a_key(target: str, key: str) -> None:
    assert link_key(target) == key


def test_the_notes_of_the_tests_are_the_same_for_the_same_seed_and_of_every_kind() -> None:
    made = dict(notes(2_000))

    assert dict(notes(2_000)) == made
    assert dict(notes(2_000, seed=2)) != made
    assert len(made) == 2_000
    assert sum(not data for data in made.values()) > 10
    assert any(data.startswith(b"\xef\xbb\xbf") for data in made.values())
    assert any(b"\r\n" in data for data in made.values())
    assert max(map(len, made.values())) > 200_000
    stems = [path.rsplit("/", 1)[-1].rsplit(".", 1)[0] for path in made]
    assert len(set(stems)) < len(stems)
    assert any(not path.isascii() for path in made)
    assert {path.rsplit(".", 1)[1] for path in made} == {"md", "markdown", "canvas", "txt", "MD"}


@pytest.mark.parametrize(
    "part",
    [
        "[[",
        "[[a|",
        "[[#",
        "](",
        "](a(",
        "[x](<",
        '](a "',
        "` ",
        "```a\n",
        "#",
        " #a",
        "---\n",
        "a\n--\n",
        "\n\n    x",
        "> ",
        "1. ",
        "\\",
        " ",
        "\t",
        "[a",
        "# \t",
    ],
)
def test_a_note_that_repeats_one_thing_is_read_in_a_time_that_grows_with_its_length(part: str) -> None:
    # Were it quadratic, this would take hours, and the time limit of the test would end it.
    for text in (part * 200_000, "# a" + part * 200_000 + "b", "---\n" + part * 200_000):
        assert parsed(text).title
