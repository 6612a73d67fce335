"""`cru.fs`: files and folders (crucible.md 10.2).

A relative path begins at the workspace of the session that the call belongs to. Where the run may wait the work is done beside the
event loop, so that a slow disk holds up nobody else; while a file is being loaded it is done at once. What cannot be done raises,
with path and reason.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from treblehook.contracts.crucible.library import files
from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import FLAG, OCTETS, PATH
from treblehook.contracts.crucible.library.library import Library
from treblehook.runtimes.lua import LuaRaise

Work = Callable[[], Any]


def install(library: Library) -> None:
    def provide(name: str, prepared: Callable[[Library, Arguments], Work]) -> None:
        function = f"cru.fs.{name}"
        library.provide_work(function, lambda *given: _telling(function, prepared(library, Arguments(function, given))))

    provide("read", lambda library, call: _one(library, call, files.read))
    provide("exists", lambda library, call: _one(library, call, _exists))
    provide("is_file", lambda library, call: _one(library, call, Path.is_file))
    provide("is_dir", lambda library, call: _one(library, call, Path.is_dir))
    provide("list", lambda library, call: _one(library, call, files.names))
    provide("mkdir", lambda library, call: _one(library, call, _make_folder))
    provide("write", lambda library, call: _content(library, call, files.write))
    provide("append", lambda library, call: _content(library, call, files.append))
    provide("copy", lambda library, call: _two(library, call, files.copy))
    provide("rename", lambda library, call: _two(library, call, files.rename))
    provide("remove", _remove)


def _one(library: Library, call: Arguments, work: Callable[[Path], Any]) -> Work:
    path = library.located(call.take("path", PATH))
    return lambda: work(path)


def _content(library: Library, call: Arguments, work: Callable[[Path, bytes], None]) -> Work:
    path, content = library.located(call.take("path", PATH)), call.take("content", OCTETS)
    return lambda: work(path, content)


def _two(library: Library, call: Arguments, work: Callable[[Path, Path], None]) -> Work:
    source, destination = library.located(call.take("from", PATH)), library.located(call.take("to", PATH))
    return lambda: work(source, destination)


def _remove(library: Library, call: Arguments) -> Work:
    path = library.located(call.take("path", PATH))
    recursive = call.options("recursive").read("recursive", FLAG, False)
    return lambda: files.remove(path, recursive)


def _exists(path: Path) -> bool:
    """Also for a symbolic link that leads nowhere."""
    return path.is_symlink() or path.exists()


def _make_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)


def _telling(function: str, work: Work) -> Work:
    """`work`, whose failure is told to Lua."""

    def told() -> Any:
        try:
            return work()
        except OSError as error:
            where = " → ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
            raise LuaRaise(f"{function}: {where}: {error.strerror or error}") from error

    return told
