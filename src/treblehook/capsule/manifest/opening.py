"""From the FILE of a command to a manifest: `murmur.yaml` as it is, a folder with one, or a packed capsule."""

import hashlib
import os
import stat
import zipfile
import zlib
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.capsule.manifest.reading import read_manifest
from treblehook.capsule.manifest.values import CapsuleManifest
from treblehook.contracts.murmur.artifact import MANIFEST, MANIFEST_BYTES, MOST_ENTRIES, PAYLOAD_BYTES
from treblehook.host.private import make_private_folder
from treblehook.host.problems import ConfigInvalid, Problem


class Opened(Struct, frozen=True):
    """A capsule's manifest and the warnings about it. `folder` is where the files that it names are, `beside` that of the file that was
    named, where its workdirs go; they differ where it was packed."""

    manifest: CapsuleManifest
    warnings: tuple[Problem, ...]
    folder: Path
    beside: Path


def open_capsule(file: Path, unpacked: Path) -> Opened:
    """Read the capsule at `file`; a packed one is unpacked below `unpacked`, once for what is in it. Raises `ConfigInvalid`."""
    path = file / MANIFEST if file.is_dir() else file
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise _wrong(path, "it is no regular file")
        packed = zipfile.is_zipfile(path)
        manifest = _unpack(path, unpacked) if packed else path
        with open(manifest, "rb") as opened:
            text = opened.read(MANIFEST_BYTES + 1)
    except FileNotFoundError:
        raise _wrong(path, "there is no such file", "name a murmur.yaml or a .mur.zip") from None
    except OSError as error:
        raise _wrong(path, f"it cannot be read: {error.strerror or error}") from error
    if len(text) > MANIFEST_BYTES:
        raise _wrong(path, f"it has more than {MANIFEST_BYTES} bytes")
    read = read_manifest(path, text, manifest.parent)
    return Opened(read.manifest, read.warnings, manifest.parent.absolute(), path.parent.absolute())


def _wrong(path: Path, what: str, remedy: str = "") -> ConfigInvalid:
    return ConfigInvalid([Problem(str(path), "", what, remedy)])


_UNPACKED_BYTES: Final = 2 * PAYLOAD_BYTES


def _unpack(path: Path, unpacked: Path) -> Path:
    """The manifest of a packed capsule, beside everything that was packed with it."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    folder = unpacked / digest
    done = folder / ".unpacked"
    if not done.exists():
        try:
            with zipfile.ZipFile(path) as archive:
                _extract(archive, folder, path)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise _wrong(path, f"it is no zip file that can be read: {error}", "build the package again") from error
        done.touch(mode=0o600)
    if not (folder / MANIFEST).is_file():
        raise _wrong(path, f"there is no {MANIFEST} at its root", "build the package again")
    return folder / MANIFEST


def _extract(archive: zipfile.ZipFile, folder: Path, path: Path) -> None:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_ENTRIES:
        raise _wrong(path, f"it has {len(entries)} entries", f"allowed: {MOST_ENTRIES}")
    room = _UNPACKED_BYTES
    for entry in entries:
        parts = entry.filename.replace("\\", "/").split("/")
        if entry.filename.startswith("/") or any(part in ("", ".", "..") for part in parts):
            raise _wrong(path, f"the entry {entry.filename!r} leads out of the package", "build the package again")
        with archive.open(entry) as packed:
            # What the directory says of its size is only a claim.
            content = packed.read(room + 1)
        room -= len(content)
        if room < 0:
            raise _wrong(path, f"it unpacks to more than {_UNPACKED_BYTES} bytes", "make it smaller")
        target = folder.joinpath(*parts)
        make_private_folder(target.parent)
        target.write_bytes(content)
        target.chmod(0o700 if entry.external_attr >> 16 & 0o111 else 0o600)
