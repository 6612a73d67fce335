"""What a hook that is a component is asked in tests, what it may import, and what it answers."""

from collections.abc import Callable

from tests.support.guests import LIFECYCLE, hook_interfaces
from treblehook.runtimes.wasm import SEALED_WASI, Err, Grants, HostInterface, Ok, Variant, host_interface

ON_SHELL = f"{LIFECYCLE}#on-shell"
CALL = {
    "turn": 3,
    "binary": "/usr/bin/git",
    "command": "git commit",
    "argv": ["commit", "-m", "what was found"],
    "script": None,
    "recipe": None,
    "outcome": None,
}
OUTCOME = {"exit-code": -1, "stdout": "é", "stderr": "", "stdout-bytes": 2, "stderr-bytes": 0, "duration-ms": 17}
REFUSED = Ok(Variant("deny", "leave the treasure where it is"))
PASSED = Ok(Variant("none"))


def hook_grants() -> Grants:
    """What a hook may import, each function with an answer of its own."""
    interfaces = hook_interfaces()
    answers: dict[str, dict[str, Callable[..., object]]] = {
        "murmur:runtime/inference@0.4.0": {"run-inference": lambda request: Err("no model")},
        "murmur:runtime/tokens@0.4.0": {"count": len},
        "murmur:task-io/read@0.1.0": {
            "input-len": lambda form: Err("no-task"),
            "read-input": lambda form, offset, most: Err("no-task"),
            "output-len": lambda: Err("no-output"),
            "read-output": lambda offset, most: Err("no-output"),
        },
        "murmur:conversation/read@0.2.0": {"read-messages": lambda cursor, limit: Err("not-granted")},
    }
    given = [host_interface(interfaces[name], functions) for name, functions in answers.items()]
    return Grants([*given, HostInterface(LIFECYCLE, stubbed=True)], SEALED_WASI)
