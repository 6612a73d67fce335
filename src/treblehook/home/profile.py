"""How a session is to be opened: what a user says on the command line, or a program in its call."""

from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

Profile = Literal["default", "bare", "prompt-only"]
"""`bare` and `prompt-only` run no hooks but gates, and neither do the session's subagents; the choice is kept with the session."""

PROFILES: Final[tuple[Profile, ...]] = ("default", "bare", "prompt-only")
"""From the widest to the narrowest."""


class SessionWish(Struct, frozen=True):
    """What is asked for; None takes what the home, or the resumed session, says.

    `resume` is a session id or an unambiguous beginning of one. `prompt-only` also offers no tools. `kilns` are the names of those
    whose notes the session has, None for all. `trust` trusts the workspace's code as it is now.
    """

    workspace: Path | None = None
    model: str | None = None
    resume: str | None = None
    profile: Profile | None = None
    kilns: tuple[str, ...] | None = None
    trust: bool = False
