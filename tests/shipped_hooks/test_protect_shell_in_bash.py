"""protect-shell beside a real shell: what it lets pass leaves the protected files as they were."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.shipped_hooks.conftest import ShippedRig
from tests.support.needs import needs

pytestmark = needs("bash", "git", "sed", "find")
PROTECT = {"protect": ["secrets/**", ".env", "sub/*.pem", "~/.ssh/**"]}
FILES = ("secrets/key", "secrets/deep/key", ".env", "sub/a.pem", "sub/b.txt", "other/.env", "plain", "home/.ssh/id")
# Deep enough that no chain of `..` in a few commands leaves the test's own folder.
DEPTH = 14

HERE = Path(__file__).parent
NAMES = (HERE / "bash_names.txt").read_text().splitlines()
# A tab stands for a line break.
COMMANDS = [line.replace("\t", "\n") for line in (HERE / "bash_commands.txt").read_text().splitlines()]
JOINTS = (";", "&&", "||", "\n", "|", "&")


def laid_out(folder: Path) -> Path:
    """The workdir, far below `folder`, with files that are worth keeping."""
    work = folder.joinpath(*"n" * DEPTH, "work")
    for name in FILES:
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"worth keeping: {name}\n")
    return work


def kept(work: Path) -> dict[str, tuple[str, int] | None]:
    """What is protected, as it is: the content and the permissions."""
    files = [
        *work.joinpath("secrets").rglob("*"),
        *(work / name for name in FILES if not name.startswith(("other", "plain")) and name != "sub/b.txt"),
    ]
    found: dict[str, tuple[str, int] | None] = {str(file): None for file in files}
    for file in files:
        if file.is_file():
            found[str(file)] = (file.read_text(), file.stat().st_mode)
    return found


def scripts(count: int) -> list[str]:
    """Scripts of one to four commands; the same ones every time."""
    chance = random.Random(4)
    return [script(chance) for _ in range(count)]


def script(chance: random.Random) -> str:
    parts = []
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        command = chance.choice(COMMANDS).format(*(chance.choice(NAMES) for _ in range(3)))
        parts.append(command if command.endswith("\n") else f"{command} {chance.choice(JOINTS)} ")
    return "".join(parts).rstrip(";&| \n") + "\n"


def run_in_bash(script: str, work: Path) -> None:
    environment = {"HOME": str(work / "home"), "PATH": os.environ["PATH"]}
    command = ["bash", "-c", script]
    subprocess.run(command, cwd=work, env=environment, capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL)


async def test_what_passes_leaves_what_is_protected_alone(rig: ShippedRig, tmp_path_factory: pytest.TempPathFactory) -> None:
    rig.ship("protect-shell", config=PROTECT)
    await rig.start()
    ran = 0
    for script in scripts(1500):
        if await rig.bash(script) is not None:
            continue
        work = laid_out(tmp_path_factory.mktemp("bash"))
        before = kept(work)
        run_in_bash(script, work)
        ran += 1
        assert kept(work) == before, script
    assert ran > 50
