"""Whether a tool call would change what decides which hooks run."""

import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from treblehook.host.agents import user_home
from treblehook.host.protected import inputs
from treblehook.host.protected.command import CommandLine
from treblehook.host.protected.ground import Ground, How, Touch
from treblehook.host.protected.places import project_places, user_places
from treblehook.host.protected.steps import Folder, folder_at
from treblehook.lifecycle import ToolCall
from treblehook.shell.bash.word import UNSEEN

_LONGEST: Final = 128 * 1024
"""No shell can be started with a longer command line (MAX_ARG_STRLEN)."""


_OPEN: Final = re.compile(r"[*?]+")
_FRESH: Final = 1.0
"""For how many seconds the links on the way to the places count as they were found."""
_MOST_GROUNDS: Final = 64


class _Known(Struct, frozen=True):
    """The places as they are seen from a workspace, until the clock says `until`."""

    ground: Ground
    folder: Folder
    until: float


class Protection:
    """The protected places of one home and one user. Links on the way to a place are followed as they lead now, or did a second ago;
    those on the way of a call as they lead now.

    It looks at what a call says, and is no wall: a script may do what no command line shows. The modes of files and a sandbox are one.
    """

    def __init__(self, home: Path, environ: Mapping[str, str], clock: Callable[[], float] = time.monotonic) -> None:
        self._home = home
        self._environ = environ
        self._clock = clock
        self._user_home = user_home(environ)
        self._of_user = tuple(user_places(home, environ))
        self._grounds: dict[Path, _Known] = {}
        self._granted: str | None = None

    def granting(self, folder: Path) -> "Protection":
        """The same, but for what is in a folder that belongs to whoever makes the calls."""
        protection = Protection(self._home, self._environ, self._clock)
        protection._granted = str(folder)
        return protection

    def touched(self, call: ToolCall, workspace: Path) -> str | None:
        """Why the user has to be asked about a call that is run in `workspace`, as a sentence for user and model; None for no reason."""
        name = call.name.lower()
        if inputs.reads(name):
            return None
        paths = list(inputs.paths_in(call.input))
        if name in inputs.PATCHING:
            paths.extend(inputs.patched_paths(call.input))
        else:
            command = inputs.command_in(call.input)
            if command is not None and len(command) > _LONGEST:
                return "The command is too long to see whether it changes a protected path, so the user is asked."
            if command is not None and (touch := self._of_command(command, call, workspace)) is not None:
                return _told(touch)
        return _told(self._of_paths(paths, workspace, name))

    def named_in(self, glob: str, argument: str, workspace: Path) -> bool:
        """Whether the glob of a rule, on the main argument of that name, speaks of a protected place; what it leaves open names none."""
        text = _OPEN.sub(UNSEEN, glob)
        ground, folder = self._ground(workspace)
        if argument == "command":
            return CommandLine(text, ground, self._environ, (folder,)).names_one()
        touch = ground.pattern(self._at_home(text), folder, stars_match_dots=True) if argument == "path" else None
        return touch is not None and touch.how != "above"

    def _of_command(self, command: str, call: ToolCall, workspace: Path) -> Touch | None:
        ground, folder = self._ground(workspace)
        named = [folder_at(os.path.join(workspace, self._at_home(path))) for path in inputs.working_folders(call.input)]
        return CommandLine(command, ground, self._environ, (folder, *named)).touched()

    def _of_paths(self, paths: list[str], workspace: Path, tool: str) -> Touch | None:
        ground, folder = self._ground(workspace)
        changed: list[How] = ["inside"] if tool in inputs.WRITING else ["inside", "holding"]
        if inputs.MOVING.search(tool):
            changed.append("above")
        touches = (ground.literal(self._at_home(path), folder) for path in paths)
        return next((touch for touch in touches if touch is not None and touch.how in changed), None)

    def _at_home(self, path: str) -> str:
        return self._user_home + path[1:] if path == "~" or path.startswith("~/") else path

    def _ground(self, workspace: Path) -> tuple[Ground, Folder]:
        now = self._clock()
        known = self._grounds.get(workspace)
        if known is None or known.until < now:
            self._grounds.pop(workspace, None)
            if len(self._grounds) >= _MOST_GROUNDS:
                self._grounds.pop(next(iter(self._grounds)))
            ground = Ground((*self._of_user, *project_places(workspace)), self._granted)
            known = self._grounds[workspace] = _Known(ground, folder_at(os.path.abspath(workspace)), now + _FRESH)
        return known.ground, known.folder


def _told(touch: Touch | None) -> str | None:
    if touch is None:
        return None
    place = touch.place
    found = place.path if touch.how == "inside" else f"{place.path}, which is below {touch.path.replace(UNSEEN, '…')}"
    return f"This call may change {found}. It is {place.what}, and protected: the user is asked, unless an allow rule names it."
