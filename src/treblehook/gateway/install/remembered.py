"""What an installation did to a file: as the home remembers it, else as far as the copy of the first version tells."""

from msgspec.structs import replace

from treblehook.gateway.install.files import OTHERS, Found, find, first_of, text_of
from treblehook.gateway.install.record import Installed
from treblehook.gateway.install.settings import Settings
from treblehook.host.problems import ConfigInvalid


def remembered(found: Found, settings: Settings, known: Installed | None) -> Installed:
    """`known`, or for entries of another home, or of one that has lost its record, what can still be found out. Without a copy there was
    no file. Raises `ConfigInvalid` where `found` is not as the agent reads it."""
    fresh = Installed(settings.agent, str(found.file))
    text = text_of(found)
    if known is not None or text is None or not text.strip():
        return known or fresh
    events = settings.own(text)
    if not events:
        return fresh
    try:
        copy = find(first_of(found.file))
        before = settings.found_in(text_of(copy), events)
    except ConfigInvalid:
        # What is no settings file tells nothing of one.
        return fresh
    narrowed = copy.mode is not None and copy.mode != found.mode == copy.mode & ~OTHERS
    return replace(fresh, before=before, mode=copy.mode if narrowed else None)
