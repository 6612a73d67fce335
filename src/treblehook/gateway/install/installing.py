"""What an installation changes, and the same taken back: planned first, then carried out."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from treblehook.gateway.agents import codec_of
from treblehook.gateway.install.entries import Form, HttpAccess, entries_of, forms_of
from treblehook.gateway.install.files import (
    OTHERS,
    PRIVATE,
    Found,
    check_writable,
    drop_first,
    drop_folders,
    find,
    keep_first,
    text_of,
    write,
)
from treblehook.gateway.install.homes import homes_of, homes_of_plugin
from treblehook.gateway.install.places import DIALECTS
from treblehook.gateway.install.plugins import PLUGINS, plugin_text
from treblehook.gateway.install.record import Installed, Record
from treblehook.gateway.install.remembered import remembered
from treblehook.gateway.install.settings import Settings
from treblehook.gateway.install.switches import allowed_urls
from treblehook.gateway.lines import ClientPlace
from treblehook.host.problems import ConfigInvalid, Problem
from treblehook.lifecycle import Event


class Gateway(Struct, frozen=True):
    """The gateway that is installed: what its clients need to know, the events at which a call must not be lost, and how it is reached
    over HTTP, None where it is not."""

    place: ClientPlace
    closed: frozenset[type[Event]] = frozenset()
    http: HttpAccess | None = None


class Change(Struct, frozen=True):
    """What would become of an agent's file: `after` is its new content, None where it goes; `mode` its new mode bits, None where they
    stay. `installed` is what is remembered of it, None where it is forgotten; `first` is true where a copy of what was found is kept.
    `homes` are those that were asked so far, `notes` what the user should know."""

    agent: str
    found: Found
    after: bytes | None
    mode: int | None = None
    installed: Installed | None = None
    first: bool = False
    homes: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether everything is as it would be."""
        return self.after == self.found.content and self.mode in (None, self.found.mode)


def plan_install(agent: str, file: Path, gateway: Gateway, known: Installed | None) -> Change:
    """What installing changes in `file`, where `known` is what an earlier installation in it did. Nothing is written.

    Raises `ConfigInvalid` for a file that cannot be changed without harm.
    """
    found = find(file)
    if agent in PLUGINS:
        change = _plugin_change(found, gateway, known or Installed(agent, str(file)))
    else:
        change = _settings_change(found, gateway, Settings(agent, str(file), DIALECTS[agent]), known)
    if not change.is_none:
        check_writable(found)
    return change


def _settings_change(found: Found, gateway: Gateway, settings: Settings, known: Installed | None) -> Change:
    agent, text = settings.agent, text_of(found)
    known = remembered(found, settings, known)
    is_blank = text is None or not text.strip()
    values: dict[str, Any] = {} if text is None or is_blank else settings.read(text).root.plain()
    own = {} if text is None or is_blank else settings.own(text)
    why_not = "" if gateway.http is None else _why_not_http(found, gateway.http, values)
    forms = forms_of(codec_of(agent), gateway.closed, http=gateway.http is not None and not why_not)
    edited = settings.put_in(text, entries_of(agent, forms, settings.dialect, gateway.place, gateway.http), known.before)
    assert edited.text is not None
    homes = tuple(homes_of(handler for each in own.values() for *_, handler in each))
    notes = _replaced_homes(homes, gateway)
    if why_not and forms != forms_of(codec_of(agent), gateway.closed, http=True):
        notes.append(f"commands are installed where HTTP would do: {why_not}")
    holds_key = "http" in forms.values() and gateway.http is not None and bool(gateway.http.key)
    mode, was = _mode(found, known, private=holds_key)
    if mode is not None and holds_key:
        notes.append(f"{found.file} gets mode {mode:04o}: it holds the key of the gateway, which others may not read")
    installed = replace(known, forms=forms, before=edited.before, mode=was, folders=known.folders or _missing(found.target.parent))
    first = text is not None and not own
    return Change(agent, found, _encoded(found.file, edited.text), mode, installed, first, homes, tuple(notes))


def _replaced_homes(homes: Iterable[Path], gateway: Gateway) -> list[str]:
    others = (home for home in homes if home != gateway.place.home)
    return [f"the hooks of {home} are not asked any more: an agent asks those of one home" for home in others]


def plan_uninstall(agent: str, file: Path, home: Path, known: Installed | None) -> Change:
    """What is taken out of `file`, whichever home it asks; `known` is what `home` remembers of it. Nothing is written.

    Raises `ConfigInvalid` for a file that cannot be changed without harm.
    """
    found = find(file)
    change = _without_code(agent, found) if agent in PLUGINS else _without_entries(agent, found, known)
    if not change.is_none:
        check_writable(found)
    others = (other for other in change.homes if other != home)
    return replace(change, notes=tuple(f"what is taken out asks the hooks of {other}" for other in others))


def _without_code(agent: str, found: Found) -> Change:
    """A file of code is ours as a whole, or not at all."""
    if found.content is None or not found.content.startswith(_head(agent)):
        return Change(agent, found, found.content)
    return Change(agent, found, None, homes=tuple(homes_of_plugin(found.content.decode("utf-8", "replace"))))


def _without_entries(agent: str, found: Found, known: Installed | None) -> Change:
    settings = Settings(agent, str(found.file), DIALECTS[agent])
    known = remembered(found, settings, known)
    narrowed = known.mode is not None and found.mode == known.mode & ~OTHERS
    mode = known.mode if narrowed else None
    text = text_of(found)
    if text is None or not text.strip():
        return Change(agent, found, found.content, mode)
    left = settings.taken_out(text, known.before).text
    homes = tuple(homes_of(handler for each in settings.own(text).values() for *_, handler in each))
    return Change(agent, found, None, homes=homes) if left is None else Change(agent, found, left.encode(), mode, homes=homes)


def carry_out(change: Change, record: Record) -> tuple[str, ...]:
    """Write it, and remember or forget it; what the user should know of that.

    Raises `ChangedMeanwhile` where the file is not as it was found any more, and `ConfigInvalid` where something cannot be written; the
    file is as it was found then.
    """
    file = change.found.file
    if change.installed is None:
        return _take_out(change, record)
    copy = keep_first(change.found) if change.first and not change.is_none else None
    earlier = record.find(change.agent, file)
    # What restores a file is remembered before it is changed.
    record.keep(change.installed)
    try:
        if not change.is_none:
            write(change.found, change.after, change.mode)
    except BaseException:
        if earlier is None:
            record.forget(change.agent, file)
        else:
            record.keep(earlier)
        raise
    return (f"the file as it was is kept in {copy}",) if copy is not None else ()


def _take_out(change: Change, record: Record) -> tuple[str, ...]:
    file = change.found.file
    known = record.find(change.agent, file)
    if not change.is_none:
        write(change.found, change.after, change.mode)
    copy = drop_first(file, change.after)
    if known is not None:
        if change.after is None:
            drop_folders(known.folders)
        record.forget(change.agent, file)
    return (f"the file as it was before the installation is still in {copy}: it has been changed since",) if copy is not None else ()


def _plugin_change(found: Found, gateway: Gateway, known: Installed) -> Change:
    if found.content is not None and not found.content.startswith(_head(known.agent)):
        message = "found a file that Treblehook has not written"
        raise ConfigInvalid([Problem(str(found.file), "line 1", message, "move it away; this name is the one that is installed")])
    forms: Mapping[str, Form] = forms_of(codec_of(known.agent), gateway.closed, http=False)
    text = plugin_text(known.agent, gateway.place, [event for event, form in forms.items() if form == "closed"])
    folders = known.folders or _missing(found.target.parent)
    installed = replace(known, forms=dict(forms), folders=folders)
    homes = () if found.content is None else tuple(homes_of_plugin(found.content.decode("utf-8", "replace")))
    notes = tuple(_replaced_homes(homes, gateway))
    return Change(known.agent, found, _encoded(found.file, text), installed=installed, homes=homes, notes=notes)


def _head(agent: str) -> bytes:
    return f"// Written by `treblehook install {agent}`".encode()


def _why_not_http(found: Found, http: HttpAccess, values: Mapping[str, Any]) -> str:
    """Why no HTTP entry may stand in a file, "" where one may: a key that others can read is none."""
    if allowed_urls(values) is not None:
        return "allowedHttpHookUrls is set"
    if not http.key:
        return ""
    if found.linked:
        return f"{found.file} is a link, and the key of the gateway could be shared with its target"
    if any((folder / ".git").exists() for folder in found.target.resolve().parents):
        return f"{found.file} is in a git repository, and the key of the gateway could be committed with it"
    return ""


def _mode(found: Found, known: Installed, *, private: bool) -> tuple[int | None, int | None]:
    """The new mode bits, None where they stay, and those that are restored one day, None where these are."""
    if found.mode is None:
        return PRIVATE, None
    if private:
        narrowed = found.mode & ~OTHERS
        return (narrowed, found.mode) if narrowed != found.mode else (None, known.mode)
    if known.mode is not None and found.mode == known.mode & ~OTHERS:
        return known.mode, None
    return None, None


def _missing(folder: Path) -> tuple[str, ...]:
    """The folders that will have to be made, outermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.is_dir()]
    return tuple(str(one) for one in reversed(missing))


def _encoded(file: Path, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        message = "a path that belongs into it is no UTF-8, and the file could not be read again"
        raise ConfigInvalid([Problem(str(file), "", message, "use a home with another name")]) from error
