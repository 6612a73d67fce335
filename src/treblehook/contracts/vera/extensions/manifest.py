"""`vera.extension.json`: what an extension says of itself (vera.md 5.1)."""

import os
import re
import stat
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.vera.findings import Findings
from treblehook.contracts.vera.json_text import NotJson, parsed, shown
from treblehook.host.problems import ConfigInvalid

FILE: Final = "vera.extension.json"
DECLARATIONS: Final = Path(__file__).parent / "vera.d.ts"
"""The types of everything that an extension sees, for TypeScript and for editors."""
_ID: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")
_ID_RULE: Final = 'lower-case letters and digits, in parts that a single ".", "_" or "-" separates, such as "example.lookout"'


class Manifest(Struct, frozen=True):
    """A manifest that holds. `folder` and `entry` (the module) are absolute, with every link resolved."""

    file: str
    folder: str
    id: str
    version: str
    entry: str
    capabilities: tuple[str, ...]

    @property
    def is_python(self) -> bool:
        """Whether the module is Python; else it is JavaScript."""
        return self.entry.endswith(".py")


def read_manifest(folder: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of the extension in `folder`. Raises ConfigInvalid with everything that is wrong.

    Neither the manifest nor the module may lie outside the folder, whatever links lead there.
    """
    root = os.path.realpath(folder)
    findings = Findings(os.path.join(os.fspath(folder), FILE))
    content = _content(root, findings)
    manifest = Manifest(
        file=findings.file,
        folder=root,
        id=_id(content, findings),
        version=_version(content, findings),
        entry=_entry(content, root, findings),
        capabilities=_capabilities(content, findings),
    )
    if content.get("sdk") != "1":
        findings.field("", content, "sdk", 'the text "1"')
    if not isinstance(content.get("contributes", {}), dict):
        findings.field("", content, "contributes", "an object")
    if findings.problems:
        raise ConfigInvalid(findings.problems)
    return manifest


def is_id(text: Any) -> bool:
    """Whether `text` may be the id of an extension."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def _content(root: str, findings: Findings) -> dict[str, Any]:
    path = os.path.realpath(os.path.join(root, FILE))
    if not _inside(path, root):
        findings.add("", f"is a link to {path}, outside the extension's folder", "copy the file into the folder")
        raise ConfigInvalid(findings.problems)
    if os.path.exists(path) and not os.path.isfile(path):
        findings.add("", "is not a file")
        raise ConfigInvalid(findings.problems)
    try:
        content = parsed(Path(path).read_text(encoding="utf-8-sig"), finite=False)
    except OSError as error:
        findings.add("", f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        findings.add("", f"byte {error.start} is not UTF-8", "save the file as UTF-8")
    except NotJson as error:
        findings.add("" if error.line is None else f"line {error.line}, column {error.column}", f"is not JSON: {error.message}")
    else:
        if isinstance(content, dict):
            return content
        findings.add("", f"is {shown(content)}; it must be an object")
    raise ConfigInvalid(findings.problems)


def _id(content: dict[str, Any], findings: Findings) -> str:
    if is_id(content.get("id")):
        return str(content["id"])
    findings.field("", content, "id", _ID_RULE)
    return ""


def _version(content: dict[str, Any], findings: Findings) -> str:
    version = content.get("version")
    if isinstance(version, str) and version.strip():
        return version
    findings.field("", content, "version", "a text that is not blank")
    return ""


def _entry(content: dict[str, Any], root: str, findings: Findings) -> str:
    """The module's absolute path, "" where there is none."""
    given = content.get("entrypoint")
    if not isinstance(given, str) or not given or "\0" in given or os.path.isabs(given):
        findings.field("", content, "entrypoint", "a relative path of a file in the extension's folder")
        return ""
    entry = os.path.realpath(os.path.join(root, given))
    if not _inside(entry, root):
        findings.add("entrypoint", f"{shown(given)} leads to {entry}, outside the extension's folder", "copy the file into the folder")
        return ""
    try:
        regular = stat.S_ISREG(os.stat(entry).st_mode)
    except OSError as error:
        findings.add("entrypoint", f"{shown(given)} cannot be reached: {error.strerror}")
        return ""
    if not regular:
        findings.add("entrypoint", f"{shown(given)} is not a file")
    return entry


def _capabilities(content: dict[str, Any], findings: Findings) -> tuple[str, ...]:
    given = content.get("capabilities")
    if not isinstance(given, list):
        findings.field("", content, "capabilities", "an array of names")
        return ()
    for index, name in enumerate(given):
        if not isinstance(name, str) or not name.strip():
            findings.add(f"capabilities[{index}]", f"found {shown(name)}; it must be a name")
        elif name in given[:index]:
            findings.add(f"capabilities[{index}]", f"{shown(name)} is there twice")
    return tuple(name for name in given if isinstance(name, str))


def _inside(path: str, root: str) -> bool:
    return path.startswith(root if root.endswith("/") else f"{root}/")
