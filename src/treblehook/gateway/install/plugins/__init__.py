"""The code that OpenCode and pi load lives here, as it is written into their folders; where it is written is no business of this room.

`asking.js` asks the gateway and stands for the guard where nobody answers; `opencode.js` and `pi.js` say what that means to their agent.
"""

import json
import shlex
from collections.abc import Collection
from importlib.resources import files
from typing import Final

from treblehook.gateway.agents import codec_of
from treblehook.gateway.install.plugins.loading import mark_of
from treblehook.gateway.lines import CLIENT_SECONDS, ClientPlace, client_line

_SOURCES: Final = {"opencode": ("asking.js", "opencode.js"), "pi": ("asking.js", "pi.js")}

PLUGINS: Final = tuple(_SOURCES)
"""The agents that load code, as on the command line."""


def plugin_text(agent: str, place: ClientPlace, closed: Collection[str]) -> str:
    """The whole text of the file that `agent`, one of `PLUGINS`, loads; the same for the same arguments.

    Its calls at the agent's own events in `closed` are refused where no answer is to be had, the others let pass.
    """
    facts = {
        "agent": agent,
        "socket": str(place.socket),
        "seconds": CLIENT_SECONDS,
        "loaded": str(mark_of(place.home, agent)),
        "events": {
            hooked.name: {
                "closed": hooked.name in closed,
                "client": shlex.split(client_line(agent, hooked.name, place, closed=hooked.name in closed)),
            }
            for hooked in codec_of(agent).hooked
        },
    }
    head = f"// Written by `treblehook install {agent}`, taken out by `treblehook uninstall {agent}`. Changes made here are lost.\n"
    sources = [files(__name__).joinpath(name).read_text("utf-8") for name in _SOURCES[agent]]
    imports = [line for line in sources[0].splitlines(keepends=True) if line.startswith("import ")]
    rest = sources[0].removeprefix("".join(imports))
    return "".join((head, *imports, f"\nconst TREBLEHOOK = {json.dumps(facts, indent=2)}\n", rest, "\n", *sources[1:]))
