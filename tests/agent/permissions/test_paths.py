"""A path argument is denied as given and as the file that it leads to, and allowed only as that file."""

from pathlib import Path

import pytest

from treblehook.agent.permissions import Never, Permissions, Rules
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import ToolCall

READ = ToolSpec("read", "", {}, main_argument="path")
WRITE = ToolSpec("write", "", {}, main_argument="path", asks=True)


class Place:
    """A user's home with a key in it, and a workspace beside the key."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = self.home / "work"
        self.key = self.home / ".ssh" / "id"
        self.workspace.mkdir(parents=True)
        self.key.parent.mkdir()
        self.key.write_text("key")

    def kind(self, spec: ToolSpec, path: str, *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> str:
        permission = Permissions(Rules.parse(allow, [], deny, "c"), Never(), self.workspace)
        return permission.verdict(ToolCall("c1", spec.name, {"path": path}), spec).kind


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place(tmp_path.resolve())
    monkeypatch.setenv("HOME", str(place.home))
    return place


WAYS = [
    "../.ssh/id",
    "./../.ssh/id",
    "x/../../.ssh/id",
    "..//.ssh///id",
    ".././.ssh/./id",
    "~/.ssh/id",
    "~/work/../.ssh/id",
    "{home}/.ssh/id",
    "/{home}/.ssh/id",
    "link",
    "link_to_link",
    "folder/id",
    "folder/../.ssh/id",
]


@pytest.mark.parametrize("rule", ["read(*/.ssh/*)", "read(~/.ssh/*)", "read({home}/.ssh/*)", "read(*.ssh/id)"])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_file_is_denied(place: Place, way: str, rule: str) -> None:
    (place.workspace / "link").symlink_to(place.key)
    (place.workspace / "link_to_link").symlink_to("link")
    (place.workspace / "folder").symlink_to("../.ssh")

    assert place.kind(READ, way.format(home=place.home), deny=(rule.format(home=place.home),)) == "deny"
    assert place.kind(READ, "other", deny=(rule.format(home=place.home),)) == "allow"


def test_a_denial_holds_for_a_link_by_its_own_name(place: Place) -> None:
    (place.workspace / "secret").symlink_to("/etc/hostname")
    (place.workspace / "way").symlink_to("secret")

    for path in ("way", "./way", f"/{place.workspace}/way"):
        assert place.kind(READ, path, deny=("read(secret)",)) == "deny"


def test_a_denial_holds_for_a_file_that_is_not_there_yet(place: Place) -> None:
    assert place.kind(WRITE, "new/../../.ssh/config", deny=("write(*/.ssh/*)",)) == "deny"


@pytest.mark.parametrize("rule", ["write(src/*)", "write(./src/*)", "write({work}/src/*)", "write(~/work/src/*)"])
def test_an_allowance_is_for_the_file_itself(place: Place, rule: str) -> None:
    (place.workspace / "src").mkdir()
    (place.workspace / "src" / "out").symlink_to(place.key)
    allow = (rule.format(work=place.workspace),)

    assert place.kind(WRITE, "src/new.py", allow=allow) == "allow"
    assert place.kind(WRITE, "./x/../src/new.py", allow=allow) == "allow"
    assert place.kind(WRITE, f"{place.workspace}/src/new.py", allow=allow) == "allow"
    assert place.kind(WRITE, "src/../../.ssh/id", allow=allow) == "ask"
    assert place.kind(WRITE, "src/out", allow=allow) == "ask"


def test_a_folder_named_like_a_home_is_no_home(place: Place) -> None:
    assert place.kind(WRITE, "./~/x", allow=("write(~/x)",)) == "ask"


def test_links_in_a_circle_end(place: Place) -> None:
    (place.workspace / "a").symlink_to("b")
    (place.workspace / "b").symlink_to("a")

    assert place.kind(READ, "a", deny=("read(*/.ssh/*)",)) == "allow"


@pytest.mark.parametrize("path", ["a\0b", "\ud800", ""])
def test_what_is_no_path_gets_a_verdict(place: Place, path: str) -> None:
    assert place.kind(WRITE, path, allow=("write(x*)",)) == "ask"
    assert place.kind(WRITE, f"{path}.ssh", deny=("write(*.ssh)",)) == "deny"
