"""`config.json` of a home: the file is read, all that is wrong with its two lists is said at once, and what is right becomes values."""

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from treblehook.contracts.vera.extension_entries import ExtensionEntry, disabled_included, extension_entries
from treblehook.contracts.vera.findings import Findings
from treblehook.contracts.vera.hook_entries import HookEntry, hook_entries
from treblehook.contracts.vera.json_text import NotJson, doubled_keys, parsed, shown
from treblehook.host.problems import ConfigInvalid


class VeraConfig(Struct, frozen=True):
    """What `file` says; entries stand in list order. `hooks_dir` is the absolute folder in which executables may be named,
    `disabled_included` has the ids of extensions that come with Treblehook and are not wanted."""

    file: str
    hooks_dir: str
    hooks: tuple[HookEntry, ...] = ()
    extensions: tuple[ExtensionEntry, ...] = ()
    disabled_included: tuple[str, ...] = ()


def load_config(path: str | os.PathLike[str], hooks_dir: str | os.PathLike[str] | None = None) -> VeraConfig:
    """Read a config.json; a missing file has no hooks. `hooks_dir` is the folder `hooks` beside the file unless given.

    Nothing is looked up on disk besides the file itself. Raises ConfigInvalid with everything that is wrong
    (vera.md 2.1, 2.2, 5.2); what is checked only when a session starts its hooks is in `limits.py`.
    """
    file = os.path.abspath(path)
    folder = os.path.abspath(os.path.join(os.path.dirname(file), "hooks") if hooks_dir is None else hooks_dir)
    findings = Findings(file)
    if os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file)):
        findings.add("", "is not a file")
        raise ConfigInvalid(findings.problems)
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if os.path.islink(file):
            # Somebody has guards, on a disk that is not there.
            findings.add("", "is a symbolic link that leads nowhere", "restore what it leads to, or remove the link to have no hooks")
            raise ConfigInvalid(findings.problems) from None
        return VeraConfig(file, folder)
    except UnicodeDecodeError as error:
        findings.add("", f"byte {error.start} is not UTF-8", "save the file as UTF-8")
        raise ConfigInvalid(findings.problems) from error
    except OSError as error:
        findings.add("", f"cannot be read: {error.strerror}")
        raise ConfigInvalid(findings.problems) from error
    return _read(text, folder, findings)


def _read(text: str, folder: str, findings: Findings) -> VeraConfig:
    content = _object(text, findings)
    for place, key in doubled_keys(text):
        # Elsewhere the last one counts (vera.md 3.0); here that could drop guards without a word.
        findings.add(place, f"the key {shown(key)} stands here more than once, and only the last would count", "leave one")
    hooks = hook_entries(content.get("hooks", []), folder, findings)
    extensions = extension_entries(content.get("extensions", []), findings)
    disabled = disabled_included(content.get("disabled_included_extensions", []), findings)
    if findings.problems:
        raise ConfigInvalid(findings.problems)
    return VeraConfig(findings.file, folder, hooks, extensions, disabled)


def _object(text: str, findings: Findings) -> dict[str, Any]:
    try:
        content = parsed(text, finite=False)
    except NotJson as error:
        place = "" if error.line is None else f"line {error.line}, column {error.column}"
        findings.add(place, f"is not JSON: {error.message}")
        raise ConfigInvalid(findings.problems) from error
    if not isinstance(content, dict):
        findings.add("", f"is {shown(content)}; it must be an object")
        raise ConfigInvalid(findings.problems)
    return content
