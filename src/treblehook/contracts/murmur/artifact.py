"""The package in which a hook comes: a folder, or a zip file (murmur.md 2.1)."""

import os
import stat
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.contracts.murmur.errors import ArtifactInvalid

MANIFEST: Final = "murmur.yaml"
PREFERRED: Final = "capsule.wasm"
MANIFEST_BYTES: Final = 256 * 1024
PAYLOAD_BYTES: Final = 256 * 1024 * 1024
MOST_ENTRIES: Final = 10_000


class Artifact(Struct, frozen=True):
    """A package that has been read: its manifest's text and the bytes of its payload, which has the name `payload_name`."""

    name: str
    version: str
    file: Path
    manifest: bytes
    payload_name: str
    payload: bytes


def read_artifact(path: Path, name: str, version: str) -> Artifact:
    """The package at `path`, which the operator lists as `name` and `version`. Raises `ArtifactInvalid`."""
    return _read(path, _Package(path, name, version))


def read_tool(path: Path, name: str, version: str) -> Artifact:
    """The same of a tool, whose payload is an executable. Raises `ArtifactInvalid`."""
    return _read(path, _ToolPackage(path, name, version))


def _read(path: Path, package: "_Package") -> Artifact:
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            return package.from_folder()
        if stat.S_ISREG(status.st_mode):
            return package.from_zip()
    except FileNotFoundError:
        raise package.wrong("there is no such file", "name a folder or a .mur.zip that is there") from None
    except OSError as error:
        raise package.wrong(f"it cannot be read: {error.strerror}", "see to its permissions") from error
    raise package.wrong("it is neither a folder nor a file", "name a folder or a .mur.zip")


class _Package:
    def __init__(self, path: Path, name: str, version: str) -> None:
        self._path = path
        self._name = name
        self._version = version

    def wrong(self, problem: str, remedy: str) -> ArtifactInvalid:
        return ArtifactInvalid(self._name, self._version, str(self._path), problem, remedy)

    def from_folder(self) -> Artifact:
        names = sorted(entry.name for entry in os.scandir(self._path) if entry.is_file())
        payload = self._payload(names)
        if MANIFEST not in names:
            raise self._no_manifest()
        return self._artifact(self._file(MANIFEST, MANIFEST_BYTES), payload, self._file(payload, PAYLOAD_BYTES))

    def _file(self, name: str, most: int) -> bytes:
        with open(self._path / name, "rb") as file:
            return self._bounded(file.read(most + 1), name, most)

    def from_zip(self) -> Artifact:
        try:
            with zipfile.ZipFile(self._path) as archive:
                return self._zipped(archive)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            # An encrypted entry is a RuntimeError, an unknown compression a NotImplementedError.
            raise self.wrong(f"it is no zip file that can be read: {error}", "build the package again") from error

    def _zipped(self, archive: zipfile.ZipFile) -> Artifact:
        entries = archive.infolist()
        if len(entries) > MOST_ENTRIES:
            raise self.wrong(f"it has {len(entries)} entries", f"allowed: {MOST_ENTRIES}")
        names = [entry.filename for entry in entries if not entry.is_dir()]
        for name in names:
            if ".." in name.replace("\\", "/").split("/"):
                raise self.wrong(f"the entry {name!r} leads out of the package", "build the package without `..` in its names")
        twice = sorted(name for name, times in Counter(names).items() if times > 1 and "/" not in name)
        if twice:
            raise self.wrong(f"entries stand twice: {', '.join(twice)}", "build the package again")
        payload = self._payload(names)
        if MANIFEST not in names:
            raise self._no_manifest()
        return self._artifact(self._entry(archive, MANIFEST, MANIFEST_BYTES), payload, self._entry(archive, payload, PAYLOAD_BYTES))

    def _entry(self, archive: zipfile.ZipFile, name: str, most: int) -> bytes:
        # What the directory says of its size is only a claim.
        with archive.open(name) as entry:
            return self._bounded(entry.read(most + 1), name, most)

    def _bounded(self, content: bytes, name: str, most: int) -> bytes:
        if len(content) > most:
            raise self.wrong(f"{name} unpacks to more than {most} bytes", "make it smaller")
        return content

    def _payload(self, names: list[str]) -> str:
        """The component at the root; `capsule.wasm` wins."""
        found = sorted(name for name in names if name.endswith(".wasm") and "/" not in name)
        if PREFERRED in found:
            return PREFERRED
        if not found:
            raise self.wrong("missing root wasm: there is no *.wasm at its root", "list the component in requires_files and build again")
        if len(found) > 1:
            raise self.wrong(f"several *.wasm at its root: {', '.join(found)}", f"leave one, or name one {PREFERRED}")
        return found[0]

    def _no_manifest(self) -> ArtifactInvalid:
        return self.wrong(f"there is no {MANIFEST} at its root", "put the manifest beside the component")

    def _artifact(self, manifest: bytes, payload_name: str, payload: bytes) -> Artifact:
        return Artifact(self._name, self._version, self._path, manifest, payload_name, payload)


class _ToolPackage(_Package):
    def _payload(self, names: list[str]) -> str:
        """The file at the root that is named like the tool, or the only one beside the manifest."""
        found = sorted(name for name in names if name != MANIFEST and "/" not in name)
        if self._name in found:
            return self._name
        if any(name.endswith(".wasm") for name in found):
            raise self.wrong("its payload is a component, and tools are executables here", f"pack an executable named {self._name}")
        if len(found) != 1:
            what = "there is no executable" if not found else f"several files: {', '.join(found)}"
            raise self.wrong(f"{what} at its root", f"pack one executable, named {self._name}")
        return found[0]
