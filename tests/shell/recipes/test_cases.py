"""Where a recipe is found and where not (murmur.md 5.7, cases 100 to 114)."""

import os
from pathlib import Path

import pytest

from treblehook.shell.recipes import recipe_of


def recipe(root: Path, command: str, **environ: str) -> str | None:
    tool, *argv = command.split()
    return recipe_of(tool, argv, root, environ)


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_mk", ".mk")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_case_100_the_lines_of_a_just_recipe_without_their_indentation(tmp_path: Path) -> None:
    write(tmp_path, justfile="build:\n    line1\n    line2\n\nother:\n    x\n")

    assert recipe(tmp_path, "just build") == "line1\nline2"


@pytest.mark.parametrize("command", ["just b", "just mod::x", "just build x", "just --dry-run build", "just", "just missing"])
def test_case_101_what_just_is_not_followed_in(tmp_path: Path, command: str) -> None:
    write(tmp_path, justfile="alias b := build\nbuild:\n    x\n")

    assert recipe(tmp_path, command) is None


def test_case_102_an_import_that_is_missing(tmp_path: Path) -> None:
    write(tmp_path, justfile="import 'gone.just'\nbuild:\n    x\n")
    assert recipe(tmp_path, "just build") is None

    write(tmp_path, justfile="import? 'gone.just'\nbuild:\n    x\n")
    assert recipe(tmp_path, "just build") == "x"


def test_an_imported_recipe(tmp_path: Path) -> None:
    write(tmp_path, justfile='import "lib/a.just"\n', lib__a="x")
    (tmp_path / "lib" / "a.just").write_text("build:\n  x\n    y")

    assert recipe(tmp_path, "just build") == "x\n  y"


def test_just_with_a_file_or_a_folder_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, other="build:\n  other\n", sub__justfile="build:\n  sub\n")

    assert recipe(tmp_path, "just -f other build") == "other"
    assert recipe(tmp_path, "just --justfile other build") == "other"
    assert recipe(tmp_path, "just -d sub build") == "sub"
    assert recipe(tmp_path, "just -f other -f other build") is None
    assert recipe(tmp_path, "just -d sub -f justfile build") is None


@pytest.mark.parametrize("command", ["make", "make a b", "make -j4 a", "make a X=1", "make -fX a", "make --file Makefile a", "make a -f"])
def test_case_104_what_make_is_not_followed_in(tmp_path: Path, command: str) -> None:
    write(tmp_path, Makefile="a:\n\tone\nb:\n\ttwo\n")

    assert recipe(tmp_path, "make a") == "one"
    assert recipe(tmp_path, command) is None


def test_case_105_which_makefile_wins(tmp_path: Path) -> None:
    for name in ("Makefile", "makefile", "GNUmakefile"):
        write(tmp_path, **{name: f"a:\n\techo {name}\n"})
        assert recipe(tmp_path, "make a") == f"echo {name}"


def test_case_106_another_folder(tmp_path: Path) -> None:
    write(tmp_path, sub__Makefile="a:\n\tone\n")

    assert recipe(tmp_path, "make -C sub a") == recipe(tmp_path, "make --directory=sub a") == "one"
    assert recipe(tmp_path / "sub", "make -C .. a") is None
    assert recipe(tmp_path, "make -C sub -C sub a") is None


@pytest.mark.parametrize(
    "makefile",
    ["%: x\n\tone\n", "a:\n\tone\na:\n\ttwo\n", "a: ; one\n", "a: x; one\n\ttwo\n", "a: b\n", "a:\n", ".PHONY: a\n", "a: \\\n\tb\n"],
)
def test_case_108_rules_without_one_body(tmp_path: Path, makefile: str) -> None:
    write(tmp_path, Makefile=makefile)

    assert recipe(tmp_path, "make a") is None


def test_a_phony_target_has_its_body(tmp_path: Path) -> None:
    write(tmp_path, Makefile=".PHONY: a b\na: force\n\tone\n\t\ttwo\n\n\nb:\n\tthree\nforce:\n")

    assert recipe(tmp_path, "make a") == "one\n\ttwo"


@pytest.mark.parametrize("more", ["b:\n\tthree\n", "b: c\n", "b::\n\tthree\n", "%: x\n\tthree\n", ".DEFAULT:\n\tthree\n", "b: ; three\n"])
def test_what_a_prerequisite_would_run_is_not_left_out(tmp_path: Path, more: str) -> None:
    write(tmp_path, Makefile=f"a: b\n\tone\n{more}")

    assert recipe(tmp_path, "make a") is None


def test_a_prerequisite_that_is_made_by_a_rule_of_makes_own(tmp_path: Path) -> None:
    write(tmp_path, Makefile="a: b.o\n\tone\n")
    assert recipe(tmp_path, "make a") == "one"

    write(tmp_path, **{"b.c": ""})
    assert recipe(tmp_path, "make a") is None


def test_case_109_limits_are_never_a_clip(tmp_path: Path) -> None:
    body = "echo " + "x" * (65_536 - 5)
    write(tmp_path, Makefile=f"a:\n\t{body}\n")
    assert recipe(tmp_path, "make a") == body
    write(tmp_path, Makefile=f"a:\n\t{body}x\n")
    assert recipe(tmp_path, "make a") is None

    filling = "#" * (262_144 - 8)
    write(tmp_path, Makefile=f"a:\n\tone\n{filling[:-1]}")
    assert (tmp_path / "Makefile").stat().st_size == 262_144 - 1
    assert recipe(tmp_path, "make a") == "one"
    write(tmp_path, Makefile=f"a:\n\tone\n{filling}#")
    assert recipe(tmp_path, "make a") is None


def chain(root: Path, length: int) -> None:
    write(root, Makefile="include i1.mk\n")
    for at in range(1, length):
        (root / f"i{at}.mk").write_text(f"include i{at + 1}.mk\n")
    (root / f"i{length}.mk").write_text("a:\n\tone\n")


def test_case_110_depth_and_number_of_includes(tmp_path: Path) -> None:
    chain(tmp_path, 8)
    assert recipe(tmp_path, "make a") == "one"
    chain(tmp_path, 9)
    assert recipe(tmp_path, "make a") is None

    for at in range(32):
        (tmp_path / f"n{at}.mk").write_text(f"b{at}:\n\tx\n")
    names = [f"n{at}.mk" for at in range(31)]
    write(tmp_path, Makefile=f"include {' '.join(names)}\na:\n\tone\n")
    assert recipe(tmp_path, "make a") == "one"
    write(tmp_path, Makefile=f"include {' '.join(names)} n31.mk\na:\n\tone\n")
    assert recipe(tmp_path, "make a") is None


@pytest.mark.parametrize("name", ["$(X)", "*.mk", "a?.mk", "[ab].mk"])
def test_a_computed_include(tmp_path: Path, name: str) -> None:
    write(tmp_path, Makefile=f"include {name}\na:\n\tone\n")

    assert recipe(tmp_path, "make a") is None


def test_includes_that_may_be_missing_and_those_that_may_not(tmp_path: Path) -> None:
    for word, found in (("include", None), ("-include", "one"), ("sinclude", "one")):
        write(tmp_path, Makefile=f"{word} gone.mk\na:\n\tone\n")
        assert recipe(tmp_path, "make a") == found


def test_case_112_npm(tmp_path: Path) -> None:
    scripts = '"build": "tsc -p .", "lint": 7, "test": "x", "ship": "y", "postship": "z", "preown": "w", "own": "v"'
    (tmp_path / "package.json").write_text(f'{{"scripts": {{{scripts}}}}}')

    assert recipe(tmp_path, "npm run build") == recipe(tmp_path, "npm run-script build") == "tsc -p ."
    for command in ("run build -- -v", "run", "test", "run ship", "run own", "run lint", "run gone", "run -s", "run build x", "exec build"):
        assert recipe(tmp_path, f"npm {command}") is None


@pytest.mark.parametrize("package", ["[]", "{", '{"scripts": []}', '{"scripts": {"a": null}}', "{}", '{"a":' * 100_000])
def test_a_package_without_scripts(tmp_path: Path, package: str) -> None:
    write(tmp_path, **{"package.json": package})

    assert recipe(tmp_path, "npm run a") is None


def test_case_114_no_text(tmp_path: Path) -> None:
    for name in ("Makefile", "justfile", "package.json"):
        (tmp_path / name).write_bytes(b'{"scripts": {"a": "\xff"}}\na:\n\t\xff\n')

    assert recipe(tmp_path, "make a") is recipe(tmp_path, "just a") is recipe(tmp_path, "npm run a") is None


def test_files_outside_the_root_are_refused_even_where_they_may_be_missing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write(tmp_path, **{"out.mk": "b:\n\ttwo\n"})
    (root / "link.mk").symlink_to(tmp_path / "out.mk")
    (root / "nowhere.mk").symlink_to(tmp_path / "gone")
    os.mkfifo(root / "pipe.mk")
    for name in ("../out.mk", "link.mk", "nowhere.mk", "pipe.mk", str(tmp_path / "out.mk"), "."):
        write(root, Makefile=f"-include {name}\na:\n\tone\n")
        assert recipe(root, "make a") is None, name


def test_a_link_inside_the_root_is_followed(tmp_path: Path) -> None:
    write(tmp_path, **{"real.mk": "a:\n\tone\n"})
    (tmp_path / "Makefile").symlink_to("real.mk")

    assert recipe(tmp_path, "make a") == "one"


def test_variables_that_name_other_files(tmp_path: Path) -> None:
    write(tmp_path, Makefile="a:\n\tone\n", justfile="a:\n  one\n")

    assert recipe(tmp_path, "make a", MAKEFILES="/x") is None
    assert recipe(tmp_path, "just a", JUST_JUSTFILE="/x") is None


def test_a_root_that_is_gone(tmp_path: Path) -> None:
    assert recipe(tmp_path / "gone", "make a") is None
