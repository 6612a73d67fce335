"""Whether code that comes with a workspace may run is decided here, by its content; running it may not be done here.

`deciding.py` decides. `snapshot.py` reads a workspace's Lua once, into memory; `store.py` keeps what was trusted.
"""

from treblehook.home.trust.deciding import HeldBack, readable, trust, trusted_workspace
from treblehook.home.trust.snapshot import Untrustable, WorkspaceLua, read_workspace
from treblehook.home.trust.store import Trusted, TrustStore

__all__ = ["HeldBack", "TrustStore", "Trusted", "Untrustable", "WorkspaceLua", "read_workspace", "readable", "trust", "trusted_workspace"]
