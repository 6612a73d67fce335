"""Whether a command line may change a protected place: it names one, and is not known to only read it."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from treblehook.host.protected.copying import COPYING, copy_of
from treblehook.host.protected.ground import WILD, Ground, How, Touch, strictest
from treblehook.host.protected.programs import changed_by, may_change
from treblehook.host.protected.readers import only_reads, reads_plainly
from treblehook.host.protected.spelling import Spelling, words_of
from treblehook.host.protected.steps import Folder, folder_at, plain
from treblehook.shell.bash.commands import Found, Simple, Splitter
from treblehook.shell.bash.programs import SHELLS, has_command_option, name_of, reads_stdin
from treblehook.shell.bash.word import UNSEEN, Unreadable, Word

_ENTERING: Final = frozenset({"cd", "pushd", "-C", "--directory", "--chdir"})
"""Words behind which a folder stands that the paths after it may be relative to."""
_MOST_FOLDERS: Final = 16
_HOMEWARD: Final = re.compile(r"\bcd\s*(?:[;&|\n)]|\Z)")
_WHERE_IT_RUNS: Final = re.compile(r"^/proc/[^/]+/(?:task/[^/]+/)?cwd(?=/|$)")
_RENAMING: Final = re.compile(r"\b(?:PATH|ENV|BASH_ENV|LD_\w+)\+?=|(?<![\w./-])(?:alias|enable|hash)\s")
"""It may have the names of programs mean others."""
_DOTGLOB: Final = re.compile(r"dotglob|GLOBIGNORE|glob_dots")

_WHOLE_TREES: Final = frozenset({"mv", "rename", "rm", "rmdir", "rsync", "shred", "trash", "unlink"})
"""Programs that change all that is below a folder."""
_TOLD_TO: Final = frozenset({"chattr", "chgrp", "chmod", "chown", "setfacl"})
"""Those that do so with an option."""
_RECURSIVE: Final = re.compile(r"-\w*R\w*|--recursive")
_DELETING: Final = frozenset({"-delete", "-exec", "-execdir", "-ok", "-okdir"})
_FILTERS: Final = frozenset({"-name", "-iname"})
_LINKING: Final = frozenset({"bindfs", "ln", "mount", "symlink"})
"""Programs after which a path may lead elsewhere than it does now."""
_LINKING_COPY: Final = re.compile(r"-\w*[ls]\w*|--(?:link|symbolic-link)")
_MOST_COPIED: Final = 64
_WILDCARD: Final = re.compile(r"[*?]|\[[^]]*\]")
_INTERPRETERS: Final = re.compile(r"(?:python|pypy|node|perl|ruby|php|lua|deno|bun)[\d.]*")
_ORDERED: Final = frozenset({"ed", "ex", "parallel", "patch", "xargs"})
"""Programs whose input says what they change."""


class CommandLine:
    """One command line, run in the first of `folders`, or in another that the call names."""

    def __init__(self, text: str, ground: Ground, environ: Mapping[str, str], folders: Iterable[Folder]) -> None:
        self._text = text
        self._ground = ground
        self._spelling = Spelling(environ)
        self._folders = list(folders)
        self._dots = _DOTGLOB.search(text) is not None
        self._unreadable = False
        self._lost = False
        self._leads_on = False
        self._known: dict[str, Touch | None] = {}
        if "$" in text:
            self._spelling.learn(text)

    def touched(self) -> Touch | None:
        """What it may change. Without a doubt this takes the text's words only, and nothing is parsed."""
        if reads_plainly(self._text):
            return None
        if (touch := self._by_program()) is not None:
            return touch
        words = list(words_of(self._text))
        if "$'" in self._text:
            words.extend(text for command in self._found.commands for text in _texts(command))
        self._enter(words)
        self._leads_on = self._lost or _leads_on(words)
        named = list(self._named(dict.fromkeys(words)))
        near = next((touch for touch in named if touch.how != "above"), None)
        if near is None and not (named and (self._moves_trees(words) or not COPYING.isdisjoint(words))):
            return None
        found = self._found
        if self._unreadable or self._lost:
            return near or named[0]
        if (found.defines or _RENAMING.search(self._text)) and near is not None:
            # A name of a program may mean something else.
            return near
        return next(filter(None, (self._changed(command, near) for command in found.commands)), None)

    def names_one(self) -> bool:
        """Whether it has the name of a place in it, or of the folder of its owner; what is unseen may be words of its own."""
        words = (*words_of(self._text), *words_of(self._text.replace(UNSEEN, " ")))
        return self._first(words, "inside", "holding") is not None or self._by_program() is not None

    def _by_program(self) -> Touch | None:
        place = changed_by(self._found.commands) if may_change(self._text) else None
        return None if place is None else Touch(self._text, place, "inside")

    @cached_property
    def _found(self) -> Found:
        found = Found([], [])
        try:
            Splitter(self._text, found).run()
        except Unreadable:
            self._unreadable = True
        return found

    def _enter(self, words: Sequence[str]) -> None:
        """Every folder that the line may go to is one that its paths may be relative to."""
        if _HOMEWARD.search(self._text):
            self._folders.append(folder_at(self._spelling.home))
        entering = False
        for word in words:
            if self._lost:
                return
            if word in _ENTERING:
                entering = True
            elif entering and not word.startswith("-"):
                entering = False
                self._enter_one(word)

    def _enter_one(self, word: str) -> None:
        for path in self._spelling.paths(word):
            for target in [path] if path.startswith(("/", UNSEEN)) else [f"{folder.path}/{path}" for folder in self._folders]:
                # A shell takes `..` from the text, other programs go behind the links.
                for reading in (target, plain(target)) if ".." in path and not target.startswith(UNSEEN) else (target,):
                    self._enter_folder(reading)

    def _enter_folder(self, target: str) -> None:
        if any(folder.path == target for folder in self._folders):
            return
        self._lost = self._lost or len(self._folders) >= _MOST_FOLDERS
        if not self._lost:
            self._folders.append(Folder(target, target) if WILD.search(target) else folder_at(target))

    def _named(self, words: Iterable[str]) -> Iterator[Touch]:
        for word in words:
            for path in self._spelling.paths(word):
                if (touch := self._touch(path)) is not None:
                    yield touch

    def _touch(self, path: str) -> Touch | None:
        if path not in self._known:
            self._known[path] = self._look(path)
        return self._known[path]

    def _look(self, path: str) -> Touch | None:
        path = _WHERE_IT_RUNS.sub(".", path)
        # The folder that is entered last is the one that it most likely is; it is the one that is named.
        folders = self._folders[:1] if path.startswith(("/", UNSEEN)) else self._folders[::-1]
        touch = strictest(self._ground.pattern(path, folder, stars_match_dots=self._dots) for folder in folders)
        return self._ground.anywhere(path) if touch is None and self._leads_on else touch

    @cached_property
    def _inside(self) -> Touch | None:
        """The place that the line goes to."""
        touches = (self._touch(folder.path) for folder in self._folders[1:])
        return next((touch for touch in touches if touch is not None and touch.how != "above"), None)

    def _changed(self, command: Simple, near: Touch | None) -> Touch | None:
        """What one command of the line may change; `near` is what the line names."""
        written = [text for word in command.writes for text in (word.text, *words_of(word.text))]
        if (touch := self._first(written, "inside")) is not None:
            return touch
        if near is not None and self._any_unseen(written):
            return near
        if only_reads(command) or not command.words:
            return None
        copy = copy_of(command)
        if copy is not None:
            return self._copied(copy.sources, copy.target) or (self._taken(copy.sources) if copy.moves else None)
        texts = _texts(command)
        if command.words[0].raw == "mkdir":
            return self._first(texts, "inside")
        return self._told(command, texts) or (near if self._any_unseen(texts) or _takes_orders(command.words) else None)

    def _told(self, command: Simple, texts: list[str]) -> Touch | None:
        """What a command names that is not understood any better, or the place in which it may run."""
        says = [word for text in (*texts, *command.fed) for word in (text, *words_of(text))]
        found = self._taken(says) if self._moves_trees(says) else self._first(says, "inside", "holding")
        if found is None and not COPYING.isdisjoint(says):
            found = self._copied_somewhere(tuple(dict.fromkeys(word.text for word in command.words[1:])))
        return found or self._inside

    def _copied_somewhere(self, operands: Sequence[str]) -> Touch | None:
        """What changes where any of these may be what the others are put at."""
        if len(operands) > _MOST_COPIED:
            return self._first(operands, "inside", "holding", "above")
        return next(filter(None, (self._copied(operands, target) for target in operands)), None)

    def _first(self, words: Iterable[str], *hows: How) -> Touch | None:
        return next((touch for touch in self._named(words) if touch.how in hows), None)

    def _taken(self, words: Iterable[str]) -> Touch | None:
        """What would go with a whole tree."""
        return next((touch for touch in self._named(words) if touch.how != "above" or self._stands_below(touch.path)), None)

    def _stands_below(self, path: str) -> bool:
        return WILD.search(path) is not None or any(self._ground.stands_below(path, folder) for folder in self._folders)

    def _any_unseen(self, texts: Iterable[str]) -> bool:
        """Whether one of the paths may be any."""
        return any(path.startswith(UNSEEN) for text in texts for word in words_of(text) for path in self._spelling.paths(word))

    def _copied(self, sources: Sequence[str], target: str) -> Touch | None:
        """What changes where `sources` are put at `target`, among it a file that would get a protected name there."""
        taken = [path for source in sources if source != target for path in self._spelling.paths(source)]
        for path in self._spelling.paths(target):
            touch = self._touch(path)
            if touch is None:
                continue
            if touch.how != "above" or not self._is_there(path) or any(self._poured(source, path) for source in taken):
                return touch
            for source in taken:
                inside = self._touch(f"{path}/{self._arriving(source)}")
                if inside is not None and inside.how != "above" and (not WILD.search(source) or self._brought(source, path)):
                    return inside
        return None

    def _arriving(self, source: str) -> str:
        """The name that a source has where it is put; of a pattern all that it may stand for, there or not."""
        name = _WILDCARD.sub(UNSEEN, source.rstrip("/").rpartition("/")[2])
        return name if self._dots or not name.startswith(UNSEEN) else f"?{name}"

    def _is_there(self, path: str) -> bool:
        """Whether something is at a path; otherwise what is put there gets its name."""
        return WILD.search(path) is not None or any(os.path.lexists(os.path.join(folder.path, path)) for folder in self._folders)

    def _poured(self, source: str, target: str) -> bool:
        """Whether all that is in `source` comes to `target`, and something of a protected name may be among it."""
        return source.rpartition("/")[2] in ("", ".") and self._brought(source, target)

    def _brought(self, source: str, target: str) -> bool:
        """Whether something of a protected name may be in the folder of `source`."""
        beside, name = os.path.split(source)
        beside, called = beside or ".", "*" if name in ("", ".") else name
        unknown = WILD.search(beside) is not None or WILD.search(target) is not None
        return unknown or any(self._ground.brings(beside, called, target, folder) for folder in self._folders)

    def _moves_trees(self, words: Sequence[str]) -> bool:
        """Whether a program among the words changes all that is below a folder; `find` with a name in view only what is so called."""
        names = {word.rpartition("/")[2] for word in words}
        if "find" in names and not _FILTERS.isdisjoint(names):
            return any(self._ground.names_part(name) for option, name in pairwise(words) if option in _FILTERS)
        if not _TOLD_TO.isdisjoint(names) and any(map(_RECURSIVE.fullmatch, names)):
            return True
        return not _WHOLE_TREES.isdisjoint(names) or ("find" in names and not _DELETING.isdisjoint(names))


def _leads_on(words: Sequence[str]) -> bool:
    """Whether what a path says may not be where it leads: a link is made before it is used, or a program puts it together."""
    names = {word.rpartition("/")[2] for word in words}
    links = not _LINKING.isdisjoint(names) or ("cp" in names and any(map(_LINKING_COPY.fullmatch, names)))
    return links or any(map(_INTERPRETERS.fullmatch, names))


def _texts(command: Simple) -> list[str]:
    return [word.text for word in (*command.assignments, *command.words)]


def _takes_orders(words: Sequence[Word]) -> bool:
    """Whether the command's input may say what it changes."""
    name = name_of(words[0])
    if name in SHELLS:
        return not has_command_option(words) and reads_stdin(words)
    return name in _ORDERED or (_INTERPRETERS.fullmatch(name) is not None and all(word.text.startswith("-") for word in words[1:]))
