"""The quick reader of makefiles says what the careful one says, or that it is not sure."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.shell.recipes.corpus import MAKEFILES
from treblehook.shell.recipes.files import Files, Unreadable
from treblehook.shell.recipes.make import careful_body
from treblehook.shell.recipes.make_quick import NotSure, quick_body

RULES = ("build:", "build: a", "build other:", "other:", "build::", "%ild:", "$(X):", "build: ; echo x", " build:", "build :", "rebuild:")
RECIPES = ("\techo one", "\techo two", "\t", "\t# c", "\tbuild: x", "", "   ", "# build:")
VARIABLES = ("X = build: a", "X := 1", "build = 1", "URL = a:b", "export X", "iffy = 1", "vpath %.c s")
INCLUDES = ("include a.mk", "-include a.mk", "include a.mk gone.mk", "-include gone.mk", " include a.mk", "include $(X)", "\tinclude a.mk")
TURNS = ("ifdef X", "  ifeq (a,b)", "endif", "else", "define Y", "endef", "$(eval x)", " $(eval x)", "load x", " load x")
DECEITS = (
    *(
        "a $(X):",
        "./build:",
        "a build&:",
        "a%:",
        "a%: b",
        "Makefile:",
        "a.mk:",
        ".DEFAULT:",
        ".x:",
        "%.mk:",
        "a b=c build:",
        "a\\:b build:",
    ),
    *("\tifdef X", " \tinclude a.mk", "\tdefine Y", "E := $(eval build: ; x)", "build: $(X)", "X = build \\\\", "buil*:", "\techo \\"),
)
GOING_ON = ("X = a \\", "build: \\")
LINES = st.sampled_from([*RULES, *RECIPES, *VARIABLES, *INCLUDES, *TURNS, *DECEITS, *GOING_ON, "a: build", "download:"])
FILES = st.lists(LINES, max_size=12).map("\n".join) | st.lists(LINES, max_size=12).map(lambda lines: "\n".join(lines) + "\n")


def both(folder: Path, name: str = "build") -> tuple[object, object]:
    """What each reader says; an `Unreadable` of either is its answer."""
    root, makefile = str(folder), os.path.join(folder, "Makefile")
    answers: list[object] = []
    for read in (quick_body, careful_body):
        try:
            answers.append(read(Files(folder), root, makefile, name))
        except Unreadable:
            answers.append("unreadable")
    return answers[0], answers[1]


@given(FILES, FILES)
def test_both_readers_agree(tmp_path_factory: object, makefile: str, included: str) -> None:
    folder = Path(tmp_path_factory.mktemp("make"))  # type: ignore[attr-defined]  # pytest's factory has no public type
    (folder / "Makefile").write_text(makefile)
    (folder / "a.mk").write_text(included)

    try:
        quick, careful = both(folder)
    except NotSure:
        return
    assert quick == careful or ("unreadable" in (quick, careful) and {quick, careful} <= {None, "unreadable"})


def test_they_agree_about_what_people_write(tmp_path: Path) -> None:
    sure = 0
    for text in MAKEFILES.values():
        (tmp_path / "Makefile").write_bytes(text.encode())
        try:
            quick, careful = both(tmp_path)
        except NotSure:
            continue
        sure += 1
        assert quick == careful, text

    assert sure > len(MAKEFILES) / 2


def test_a_big_makefile_with_many_includes_is_read_quickly(tmp_path: Path) -> None:
    names = [f"i{at}.mk" for at in range(31)]
    for at, name in enumerate(names):
        (tmp_path / name).write_text(f"X{at} = 1\nt{at}:\n\techo {at}\n")
    rules = "".join(f"r{at}: x\n\techo {at}\n" for at in range(10_000))
    (tmp_path / "Makefile").write_text(f"include {' '.join(names)}\n{rules[:200_000]}\nbuild:\n\techo b\n")

    assert quick_body(Files(tmp_path), str(tmp_path), os.path.join(tmp_path, "Makefile"), "build") == "echo b"
