"""An agent that runs elsewhere is guarded here: its events in, what hooks say of them out; no agent's name and no wire format may appear.

`agent.py` fires the rows of one session, `tools.py` is what its calls are judged by.
"""

from treblehook.host.outside.agent import OutsideAgent, Prompted, Started
from treblehook.host.outside.tools import OutsideTools, shell_output

__all__ = ["OutsideAgent", "OutsideTools", "Prompted", "Started", "shell_output"]
