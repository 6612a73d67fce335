"""Guards that do not guard: a later hook changes what they approved, or nobody obeys them.

A guard is a hook that is asked before a tool call and may block it. What a hook may answer is not written down anywhere but in
its code, so it is read off the words in its file: one that has none of the powers in it may get its answer from elsewhere, and
counts as having all.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from treblehook.contracts.vera.config import VeraConfig
from treblehook.engine import Mode
from treblehook.home.checks.entries import Entry, content_of
from treblehook.host.problems import Problem

_POWERS: Final = (b"observe", b"mutate", b"block", b"replace")


def guards_at_risk(config: VeraConfig, entries: Sequence[Entry], toml: str) -> Iterator[Problem]:
    """A warning for each guard that is not obeyed, or that is asked before a hook which may rewrite the call."""
    before_tools = [entry for entry in entries if entry.phase.name == "pre_tool_use"]
    unobeyed = {e.hook.name: e.mode for e in before_tools if not e.obeyed and _may(e, b"block")}
    for name, mode in unobeyed.items():
        happens = "it is asked, and not obeyed" if mode is Mode.REPORT else "it is not asked"
        message = f"this guard protects nothing while its mode is {mode.value!r}: {happens}"
        yield Problem(toml, f'hooks."{name}".mode', message, 'set mode = "on"', "warning")
    obeyed = [entry for entry in before_tools if entry.obeyed]
    for at, guard in enumerate(obeyed):
        rewriters = [entry.hook for entry in obeyed[at + 1 :] if _may(entry, b"mutate")]
        if rewriters and _may(guard, b"block"):
            names = ", ".join(f"{hook.name} ({hook.place})" for hook in rewriters)
            message = f"{guard.hook.name} is asked before {names}, which may rewrite the call that it approved"
            remedy = f"move {guard.hook.name} behind {rewriters[-1].name} in the list: the last hook sees what will run"
            yield Problem(config.file, guard.hook.place, message, remedy, "warning")


def _may(entry: Entry, power: bytes) -> bool:
    content = content_of(entry.hook)
    if content is None:
        return False
    if entry.hook.protocol == "claude":
        return power == b"block"
    return power in content or not any(word in content for word in _POWERS)
