"""WIT text becomes the functions and types that it describes; what is wrong with it is told with file and line."""

from pathlib import Path

import pytest

from tests.support.guests import WIT
from treblehook.runtimes.wasm.types import (
    BOOL,
    S8,
    STRING,
    U32,
    Case,
    EnumType,
    Field,
    FlagsType,
    FunctionType,
    ListType,
    OptionType,
    RecordType,
    ResultType,
    TupleType,
    VariantType,
)
from treblehook.runtimes.wasm.wit import WitError, read_folder, read_text


def test_every_kind_of_type_is_read() -> None:
    [interface] = read_text(
        """
        package a:b;
        /// What it says.
        interface i {
            type word = string;   // a comment
            record %record { %list: list<word>, maybe: option<bool>, }
            variant v { none, some-thing(%record) }
            enum e { one, two }
            flags f { x, y }
            @since(version = 0.2.0)
            go: func(a: tuple<s8, e>, b: f) -> result<v, word>;
            bare: func() -> result;
            half: func() -> result<_, u32>;
            other: func() -> result<u32>;
            nothing: func();
        }
        /* a world is
           stepped over */
        world w { import i; export g: func(a: u8); include x:y/z; }
        """
    ).values()

    record = RecordType((Field("list", ListType(STRING)), Field("maybe", OptionType(BOOL))))
    variant = VariantType((Case("none"), Case("some-thing", record)))
    assert interface.name == "a:b/i"
    assert interface.functions == {
        "go": FunctionType(
            (Field("a", TupleType((S8, EnumType(("one", "two"))))), Field("b", FlagsType(("x", "y")))), ResultType(variant, STRING)
        ),
        "bare": FunctionType((), ResultType()),
        "half": FunctionType((), ResultType(None, U32)),
        "other": FunctionType((), ResultType(U32)),
        "nothing": FunctionType(()),
    }
    assert interface.types["word"] == STRING


def test_types_are_used_from_other_interfaces_packages_and_under_other_names(tmp_path: Path) -> None:
    (tmp_path / "deps" / "base").mkdir(parents=True)
    (tmp_path / "a.wit").write_text("package a:a@1.0.0; interface one { use b:b/base@2.0.0-rc.1.{t as mine}; f: func(x: mine); }")
    (tmp_path / "b.wit").write_text("interface two { use one.{mine, mine as ours}; f: func(x: ours) -> mine; }")
    (tmp_path / "deps" / "base" / "base.wit").write_text("package b:b@2.0.0-rc.1; interface base { type t = list<u32>; }")

    interfaces = read_folder(tmp_path)

    assert set(interfaces) == {"a:a/one@1.0.0", "a:a/two@1.0.0", "b:b/base@2.0.0-rc.1"}
    assert interfaces["a:a/two@1.0.0"].functions["f"] == FunctionType((Field("x", ListType(U32)),), ListType(U32))


def test_a_hook_s_interfaces_are_read_whole() -> None:
    interfaces = read_folder(WIT)

    lifecycle = interfaces["murmur:hook/lifecycle@0.9.0"]
    assert len(lifecycle.functions) == 9
    output = lifecycle.types["hook-output"]
    assert isinstance(output, VariantType)
    assert [case.name for case in output.cases] == [
        "none",
        "replace-context",
        "write-manifests",
        "artifact",
        "reopen-task",
        "seed-context",
        "deny",
    ]
    assert lifecycle.exports()["murmur:hook/lifecycle@0.9.0#on-shell"] is lifecycle.functions["on-shell"]


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        ("interface i {}", 1, "no package", "`package`"),
        ("package a:b;\ninterface i { f func(); }", 2, "`func`", "`:`"),
        ("package a:b;\n\ninterface i {", 3, "the end", "a name"),
        ("package a:b;\ninterface i { f: func(x: strin); }", 1, "`strin` in i", "the name of a type"),
        ("package a:b;\ninterface i { use c:d/e.{t}; f: func(x: t); }", 1, "`c:d/e` in i", "the name of an interface that is here"),
        ("package a:b;\ninterface i { type t = list<t>; }", 1, "`t`, which is made of itself in i", "a type that ends"),
        ("package a:b;\ninterface i { resource r; }", 2, "`r`", "something other than a resource, which is not read here"),
        ("package a:b;\ninterface i { f: func() -> stream<u8>; }", 2, "`stream`", "something other than a stream, which is not read here"),
        ("package a:b;\ninterface i { f: func() -> own<t>; }", 2, "`own`", "something other than a own, which is not read here"),
        ("package a:b;\nworld w {", 2, "the end", "`}`"),
        ("package a:b;\n#", 2, "'#'", "WIT"),
        ("package a:b;\nfunc", 2, "`func`", "`interface` or `world`"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, line: int, found: str, expected: str) -> None:
    with pytest.raises(WitError) as raised:
        read_text(text, "x.wit")

    error = raised.value
    assert (error.file, error.line, error.found, error.expected) == ("x.wit", line, found, expected)
    assert str(error) == f"x.wit:{line}: found {found}, expected {expected}"
