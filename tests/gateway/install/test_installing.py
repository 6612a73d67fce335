"""An installation and its end, on real files: what is written where, what is remembered, what comes back."""

import os
import shutil

import pytest

from tests.gateway.install.user import OWN, User, gateway, mode
from treblehook.gateway.agents import AGENTS, codec_of
from treblehook.gateway.install.files import ChangedMeanwhile, first_of
from treblehook.gateway.install.installing import carry_out, plan_uninstall
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.plugins import PLUGINS
from treblehook.gateway.install.record import Record
from treblehook.host.problems import ConfigInvalid


@pytest.mark.parametrize("agent", OWN)
def test_everything_is_as_before_afterwards(user: User, agent: str) -> None:
    user.has(agent, OWN[agent])
    before = user.state()

    user.install(agent)
    assert user.state() != before
    assert user.uninstall(agent) == ()

    assert user.state() == before
    assert Record(user.home).entries() == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_file_that_was_made_goes_with_the_folders_that_were_made(user: User, agent: str) -> None:
    user.install(agent)
    file = user.file(agent)
    assert mode(file) == 0o600
    user.uninstall(agent)
    assert user.state() == {}

    file.parent.mkdir(parents=True)
    user.install(agent)
    (file.parent / "theirs").touch()
    user.uninstall(agent)
    assert os.listdir(file.parent) == ["theirs"]


@pytest.mark.parametrize("agent", AGENTS)
def test_installing_twice_changes_nothing_more(user: User, agent: str) -> None:
    if agent in OWN:
        user.has(agent, OWN[agent])
    user.install(agent)
    once = user.state(), Record(user.home).entries()
    assert user.plan(agent).is_none
    user.install(agent)
    assert (user.state(), Record(user.home).entries()) == once


def test_a_link_is_written_through_and_back(user: User) -> None:
    (user.folder / "dotfiles").mkdir()
    real = user.folder / "dotfiles" / "claude.json"
    real.write_text(OWN["claude-code"])
    link = user.file("claude-code")
    link.parent.mkdir()
    link.symlink_to("../dotfiles/claude.json")
    user.install("claude-code")
    assert "PostToolUse" in real.read_text()
    assert first_of(link).read_text() == OWN["claude-code"]
    user.uninstall("claude-code")
    assert real.read_text() == OWN["claude-code"]
    assert (link.is_symlink(), os.listdir(link.parent), os.listdir(real.parent)) == (True, ["settings.json"], ["claude.json"])


@pytest.mark.parametrize("agent", OWN)
def test_a_home_that_has_lost_its_record_takes_out_the_same(user: User, agent: str) -> None:
    user.has(agent, OWN[agent], 0o664)
    before = user.state()
    user.install(agent)
    shutil.rmtree(user.home)
    user.uninstall(agent)
    assert user.state() == before


@pytest.mark.parametrize("agent", AGENTS)
def test_a_home_that_has_lost_its_record_removes_the_file_that_it_made(user: User, agent: str) -> None:
    user.file(agent).parent.mkdir(parents=True)
    user.install(agent)
    shutil.rmtree(user.home)
    user.uninstall(agent)
    assert not user.file(agent).exists()


def test_a_lost_record_is_found_again_by_installing_once_more(user: User) -> None:
    user.has("gemini", OWN["gemini"])
    before = user.state()
    user.install("gemini")
    shutil.rmtree(user.home)
    assert user.install("gemini").is_none
    user.uninstall("gemini")
    assert user.state() == before


def test_a_damaged_record_is_told_and_nothing_is_changed(user: User) -> None:
    user.install("gemini")
    before = user.state()
    (user.home / "gateway" / "installed.json").write_text("[{]")
    for act in (user.install, user.uninstall):
        with pytest.raises(ConfigInvalid, match=r"installed\.json: found no list of installations.*\(remove the file"):
            act("gemini")
    assert user.state() == before


@pytest.mark.parametrize("agent", AGENTS)
def test_the_entries_of_another_home_are_replaced_and_that_is_said(user: User, agent: str) -> None:
    if agent in OWN:
        user.has(agent, OWN[agent], 0o664)
    before = user.state()
    first = user.home
    user.install(agent)

    user.home = user.folder / "other 'home'"
    user.gateway = gateway(user.home)
    change = user.install(agent)
    assert change.notes[0] == f"the hooks of {first} are not asked any more: an agent asks those of one home"
    file = user.file(agent)
    taken = plan_uninstall(agent, file, first, None)
    assert taken.notes == (f"what is taken out asks the hooks of {user.home}",)
    user.uninstall(agent)
    if agent in OWN:
        shutil.rmtree(first)
        assert {path: value for path, value in user.state().items() if "other" not in path} == before
    else:
        assert not file.exists()


def test_two_agents_know_nothing_of_each_other(user: User) -> None:
    for agent in OWN:
        user.has(agent, OWN[agent])
    before = user.state()
    for agent in AGENTS:
        user.install(agent)
    for agent in AGENTS:
        user.uninstall(agent)
    assert user.state() == before


def test_what_came_afterwards_stays_and_so_does_the_copy(user: User) -> None:
    file = user.has("gemini", OWN["gemini"])
    user.install("gemini")
    file.write_text(file.read_text().replace('"ui": {}', '"ui": {"theme": "dark"}'))
    [word] = user.uninstall("gemini")
    assert word == f"the file as it was before the installation is still in {first_of(file)}: it has been changed since"
    assert file.read_bytes().decode() == OWN["gemini"].replace("\r\n", os.linesep).replace('"ui": {}', '"ui": {"theme": "dark"}')


def test_the_lines_of_the_file_end_and_begin_as_they_did(user: User) -> None:
    file = user.has("qwen", "")
    file.write_bytes(b'{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}\r\n')
    user.install("qwen")
    lines = file.read_bytes().decode().split("\n")
    assert [line for line in lines[:-1] if not line.endswith("\r")] == []
    assert "\t\t\t{\r" in lines
    assert not any(line.startswith(" ") for line in lines)


def test_a_comment_that_the_user_has_written_beside_ours_stays(user: User) -> None:
    file = user.has("gemini", "{}\n")
    user.install("gemini")
    file.write_text(file.read_text().replace('"BeforeTool": [', '"BeforeTool": [ // guards', 1))
    user.uninstall("gemini")
    assert "// guards" in file.read_text()
    assert '"AfterTool"' not in file.read_text()


def test_a_change_between_showing_and_writing_is_not_lost(user: User) -> None:
    file = user.has("claude-code", "{}")
    change = user.plan("claude-code")
    file.write_text('{"model": "new"}')
    with pytest.raises(ChangedMeanwhile):
        carry_out(change, Record(user.home))
    assert file.read_text() == '{"model": "new"}'
    assert Record(user.home).entries() == []
    assert user.install("claude-code").first
    assert first_of(file).read_text() == '{"model": "new"}'


def test_a_change_before_it_is_taken_out_is_not_lost(user: User) -> None:
    file = user.has("claude-code", "{}")
    user.install("claude-code")
    change = plan_uninstall("claude-code", file, user.home, Record(user.home).find("claude-code", file))
    file.write_text(file.read_text() + "\n")
    with pytest.raises(ChangedMeanwhile):
        carry_out(change, Record(user.home))
    assert Record(user.home).find("claude-code", file) is not None


def test_what_was_interrupted_before_the_file_was_written_is_made_good_by_doing_it_again(user: User) -> None:
    user.has("qwen", OWN["qwen"])
    before = user.state()
    change = user.plan("qwen")
    assert change.installed is not None
    Record(user.home).keep(change.installed)
    user.install("qwen")
    user.uninstall("qwen")
    assert user.state() == before


@pytest.mark.parametrize("agent", PLUGINS)
def test_a_file_of_somebody_else_with_our_name_is_left_alone(user: User, agent: str) -> None:
    file = user.has(agent, "export const mine = 1\n")
    with pytest.raises(ConfigInvalid, match=r"line 1: found a file that Treblehook has not written \(move it away"):
        user.install(agent)
    user.uninstall(agent)
    assert file.read_text() == "export const mine = 1\n"


@pytest.mark.parametrize("agent", ["claude-code", "opencode"])
def test_a_read_only_file_is_refused_unless_nothing_changes(user: User, agent: str) -> None:
    user.install(agent)
    file = user.file(agent)
    file.chmod(0o400)
    if agent == "opencode":
        assert user.plan(agent).is_none
    user.gateway = gateway(user.folder / "elsewhere")
    with pytest.raises(ConfigInvalid, match="it has mode 0400: it is read-only"):
        user.plan(agent)
    with pytest.raises(ConfigInvalid, match="it has mode 0400: it is read-only"):
        user.uninstall(agent)


@pytest.mark.parametrize("bad", [b'{"model": "\xff"}', b"\xff\xfe{\x00}\x00"])
def test_what_is_no_utf8_is_refused(user: User, bad: bytes) -> None:
    file = user.has("claude-code", "")
    file.write_bytes(bad)
    with pytest.raises(ConfigInvalid, match=r"line 1: found the byte 0xff, which is no UTF-8 \(save the file as UTF-8\)"):
        user.install("claude-code")
    assert file.read_bytes() == bad


def test_a_home_whose_name_is_no_text_is_refused_before_anything_is_written(user: User) -> None:
    user.gateway = gateway(user.folder / os.fsdecode(b"h\xff"))
    with pytest.raises(ConfigInvalid, match="is no UTF-8"):
        user.install("claude-code")
    assert user.state() == {}


@pytest.mark.parametrize("agent", DIALECTS)
def test_every_event_of_the_agent_is_installed_and_in_this_order(user: User, agent: str) -> None:
    user.install(agent)
    assert list(user.handlers(agent)) == [hooked.name for hooked in codec_of(agent).hooked]
