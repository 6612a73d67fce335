"""Whether code that comes with a workspace may run is decided here, by its content; running it may not be done here.

`deciding.py` decides. `snapshot.py` reads a workspace's Lua once, into memory, `settings.py` the hooks in Claude Code's settings files;
`store.py` keeps what was trusted.
"""

from treblehook.home.trust.deciding import HeldBack, readable, trust, trusted_settings, trusted_workspace
from treblehook.home.trust.settings import WorkspaceSettings, read_settings
from treblehook.home.trust.snapshot import Snapshot, Untrustable, WorkspaceLua, read_workspace
from treblehook.home.trust.store import Trusted, TrustStore

__all__ = [
    "HeldBack",
    "Snapshot",
    "TrustStore",
    "Trusted",
    "Untrustable",
    "WorkspaceLua",
    "WorkspaceSettings",
    "read_settings",
    "read_workspace",
    "readable",
    "trust",
    "trusted_settings",
    "trusted_workspace",
]
