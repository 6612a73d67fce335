"""Which places may not be changed without a word of the user, and whether a tool call would change one, is known here; asking may not be.

They decide which hooks run: our home, and the hook configuration of the agents that we know. `places.py` lists them, `ground.py` finds a
path among them, `steps.py` follows its links; `inputs.py` reads a tool's input, `command.py` a command line with `spelling.py` (what its
words may stand for), `readers.py` (which programs only read) and `programs.py` (which change a place without naming it).
"""

from treblehook.host.protected.protection import Protection

__all__ = ["Protection"]
