"""`plugin.yaml`."""

from pathlib import Path

import pytest

from treblehook.contracts.crucible.plugins.manifest import Manifest, read_manifest
from treblehook.host.problems import ConfigInvalid, Problem


def read(folder: Path, text: str | bytes, plugin: str = "a") -> Manifest:
    (folder / "plugin.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_manifest(folder, plugin)


def wrong(folder: Path, text: str | bytes) -> list[tuple[str, str]]:
    with pytest.raises(ConfigInvalid) as raised:
        read(folder, text)
    assert {problem.file for problem in raised.value.problems} == {str(folder / "plugin.yaml")}
    return [(problem.place, problem.message) for problem in raised.value.problems if problem.level == "error"]


def test_every_key(tmp_path: Path) -> None:
    text = 'name: a\nversion: "1.0"\ndescription: d\nauthor: n\nlicense: MIT\nhomepage: http://h\nintercept_tools: true\n'

    assert read(tmp_path, text) == Manifest("a", "1.0", "d", "n", "MIT", "http://h")


@pytest.mark.parametrize("text", ["", "---\n", "# nothing\n"])
def test_an_empty_one_says_nothing(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == Manifest()


def test_without_one(tmp_path: Path) -> None:
    assert read_manifest(tmp_path, "a") == Manifest()


def test_unknown_keys_are_warned_of_with_the_nearest(tmp_path: Path) -> None:
    assert read(tmp_path, "versoin: x\nzzz: 1\n7: x\n").warnings == (
        Problem(str(tmp_path / "plugin.yaml"), "versoin", "unknown key, not used", "did you mean version?", "warning"),
        Problem(
            str(tmp_path / "plugin.yaml"),
            "zzz",
            "unknown key, not used",
            "known: name, version, description, author, license, homepage, intercept_tools",
            "warning",
        ),
        Problem(
            str(tmp_path / "plugin.yaml"),
            "7",
            "unknown key, not used",
            "known: name, version, description, author, license, homepage, intercept_tools",
            "warning",
        ),
    )


def test_another_name_than_the_folders_is_warned_of(tmp_path: Path) -> None:
    [warning] = read(tmp_path, "name: b\n").warnings

    assert (warning.place, warning.message) == ("name", "found 'b', but the plugin is 'a', after its folder")


def test_interception_is_not_gated_and_that_is_said(tmp_path: Path) -> None:
    [warning] = read(tmp_path, "intercept_tools: false\n").warnings

    assert (warning.place, warning.message) == ("intercept_tools", "has no effect: every plugin may answer `handled` and `args`")


def test_every_wrong_type_is_told_with_its_place(tmp_path: Path) -> None:
    assert wrong(tmp_path, "version: 1.0\nname: [a]\nauthor: {n: 1}\nlicense:\ndescription: true\nintercept_tools: yes please\n") == [
        ("name", "found a list"),
        ("version", "found 1.0"),
        ("description", "found true"),
        ("author", "found a table"),
        ("license", "found nothing"),
        ("intercept_tools", "found 'yes please'"),
    ]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("name: a\n  version: b: c\n", "line 2, column 10", "no YAML: mapping values are not allowed"),
        ("name: 'a\n", "line 2, column 1", "no YAML: while scanning a quoted scalar found unexpected end of stream"),
        ("- a\n", "", "found a list; it must be a table of keys"),
        ("just text\n", "", "found 'just text'; it must be a table of keys"),
        ("a: 2026-13-45\n", "", "no YAML: month must be in 1..12"),
        ("name: !!python/object/apply:os.system [ls]\n", "line 1, column 7", "no YAML: could not determine a constructor for the tag"),
        ("---\na: 1\n---\nb: 2\n", "line 3, column 1", "no YAML: expected a single document in the stream but found another document"),
        (b"name: \xff\n", "", "no YAML: "),
        ("name: \x01\n", "", "no YAML: "),
        ("[" * 20000, "", "nested too deeply"),
        ("&a [*a]: 1\n", "", "no YAML: "),
        (b"#" * 70_000, "", "is too big: 70,000 bytes, 65,536 are allowed"),
    ],
)
def test_what_is_no_manifest(tmp_path: Path, text: str | bytes, place: str, message: str) -> None:
    [(found_place, found)] = wrong(tmp_path, text)

    assert found.startswith(message)
    assert place in found_place


def test_aliases_that_stand_for_a_billion_are_only_shown_short(tmp_path: Path) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]

    assert len(read(tmp_path, "\n".join(rows)).warnings) == 12


def test_a_folder_or_a_dangling_link_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "plugin.yaml").symlink_to("gone")
    with pytest.raises(ConfigInvalid, match="cannot be read: No such file"):
        read_manifest(tmp_path, "a")
    (tmp_path / "plugin.yaml").unlink()
    (tmp_path / "plugin.yaml").mkdir()
    with pytest.raises(ConfigInvalid, match="is no regular file"):
        read_manifest(tmp_path, "a")
