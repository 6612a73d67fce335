"""How the file of a Python extension is loaded, and what it prints."""

import stat

import pytest

from tests.support.extension_rig import ExtensionRig
from tests.support.sample_events import proposed
from treblehook.lifecycle import Block

WORD = "treblehook.hooks.register_pre_tool_use(lambda given: {'power': 'block', 'reason': words.WORD})"


async def test_extensions_with_files_of_the_same_names_have_their_own(rig: ExtensionRig) -> None:
    for name in ("a", "b"):
        folder = rig.py(name, "keep([words.WORD, __name__])\nwords.WORD += '!'\nkeep(words.WORD)", before="from . import words")
        (folder / "words.py").write_text(f"from .deeper import more\nWORD = '{name}' + more.REST\n")
        (folder / "deeper").mkdir()
        (folder / "deeper" / "__init__.py").touch()
        (folder / "deeper" / "more.py").write_text(f"REST = 'of {name}'\n")

    assert await rig.load() == ["vera.command-hooks", "a", "b"]

    kept = {name: rig.kept(name) for name in ("a", "b")}
    assert [kept["a"][0][0], kept["b"][0][0]] == ["aof a", "bof b"]
    assert [kept["a"][1], kept["b"][1]] == ["aof a!", "bof b!"]
    assert kept["a"][0][1] != kept["b"][0][1]


async def test_a_file_may_be_imported_when_a_function_is_called(rig: ExtensionRig) -> None:
    hook = "def hook(given):\n    from . import words\n    return {'power': 'block', 'reason': words.WORD}\n"
    folder = rig.py("one", f"{hook}treblehook.hooks.register_pre_tool_use(hook)")
    (folder / "words.py").write_text("WORD = 'late'")

    assert (await rig.fire(proposed())).decision == Block("late")


async def test_the_folder_is_not_on_the_path_and_the_message_says_what_to_write(rig: ExtensionRig) -> None:
    folder = rig.py("one", WORD, before="import words")
    (folder / "words.py").write_text("WORD = 'found'")
    rig.py("other", "import words")

    assert await rig.load() == ["vera.command-hooks"]
    mine, others = rig.messages()
    assert mine.endswith("; write: from . import words")
    assert others.endswith("main.py:13)")


async def test_an_entry_in_a_folder_below(rig: ExtensionRig) -> None:
    folder = rig.folder / "extensions" / "one"
    (folder / "source").mkdir(parents=True)
    (folder / "source" / "words.py").write_text("WORD = 'below'")
    rig.py("one", WORD, before="from .words import WORD\nfrom . import words", entry="source/main.py")

    assert (await rig.fire(proposed())).decision == Block("below")


async def test_nothing_is_written_beside_the_files(rig: ExtensionRig) -> None:
    folder = rig.py("one", WORD, before="from . import words")
    (folder / "words.py").write_text("WORD = 'clean'")

    assert (await rig.fire(proposed())).decision == Block("clean")

    assert sorted(path.name for path in folder.iterdir()) == ["main.py", "vera.extension.json", "words.py"]


async def test_names_of_classes_can_be_looked_up(rig: ExtensionRig) -> None:
    rig.py(
        "one",
        "treblehook.hooks.register_pre_tool_use(lambda given: {'power': 'block', 'reason': pickle.loads(pickle.dumps(Chest('x'))).what})",
        before="import dataclasses, pickle\n@dataclasses.dataclass\nclass Chest:\n    what: 'str'",
    )

    assert (await rig.fire(proposed())).decision == Block("x")


async def test_what_is_printed_goes_to_a_private_file(rig: ExtensionRig, capsys: pytest.CaptureFixture[str]) -> None:
    folder = rig.py("one", "print('two', 3, sep='-')\nprint('elsewhere', file=sys.stderr)", before="print('one')\nfrom . import words")
    (folder / "words.py").write_text("print('words')")

    await rig.load()

    log = rig.folder / "runtime" / "logs" / "extensions" / "one.log"
    assert log.read_text() == "one\nwords\ntwo-3\n"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert capsys.readouterr() == ("", "elsewhere\n")


async def test_what_a_task_raises_is_in_that_file_too(rig: ExtensionRig, capsys: pytest.CaptureFixture[str]) -> None:
    rig.py(
        "one",
        "async def fail():\n    raise ValueError('beside')\ntask = asyncio.create_task(fail())\nawait asyncio.sleep(0)\ndel task",
        define="async def",
    )

    await rig.load()
    await rig.home.close()

    log = rig.folder / "runtime" / "logs" / "extensions" / "one.log"
    assert "ValueError: beside (" in log.read_text()
    assert capsys.readouterr().err == ""
