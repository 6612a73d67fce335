"""What a hook's return means at its event (murmur.md 4.3, 5.3, D-2)."""

from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.murmur.bindings import HONOURED, Binding, CommitPolicy, ExecutionMode
from treblehook.contracts.murmur.hook_manifest import HookManifest
from treblehook.contracts.murmur.messages import inward
from treblehook.lifecycle import Artifact, Decision, Refuse, Reopen, ReplaceContext, SeedContext, ToolManifest, WriteManifests

NONE: Final = "none"
ARTIFACT: Final = "artifact"
DENY: Final = "deny"


class Read(Struct, frozen=True):
    """A return as it is understood: a decision or None, and the name of the arm that is not honoured here, "" for none."""

    decision: Decision | None = None
    fault: str = ""


class Verdict(Struct, frozen=True):
    """A return at a decision point: a refusal, or None for a clean pass."""

    refusal: Refuse | None = None
    fault: str = ""


def observed(hook: HookManifest, binding: Binding, arm: str, value: Any) -> Read:
    """A return after the fact. What the hook's own policy does not name is not committed."""
    if arm == NONE:
        return Read()
    honoured = ARTIFACT if binding is Binding.INFERENCE else HONOURED[binding].value
    if arm != honoured or arm in (DENY, CommitPolicy.NONE.value):
        # A denial after the call denies nothing.
        return Read(fault=arm)
    if hook.mode is ExecutionMode.ASYNC:
        return Read()
    if arm != ARTIFACT and hook.policy.value != arm:
        return Read() if hook.policy is CommitPolicy.NONE else Read(fault=arm)
    return Read(_decision(hook, binding, arm, value))


def decided(hook: HookManifest, binding: Binding, arm: str, value: Any) -> Verdict:
    """A return at a decision point: anything but a clean `none` refuses."""
    if arm == NONE:
        return Verdict()
    if arm != DENY:
        reason = f"the policy hook {hook.name} returned {arm} at {binding.value}, where only deny and none are answers"
        return Verdict(Refuse(reason), fault=arm)
    if not value.strip():
        return Verdict(Refuse(f"the policy hook {hook.name} denied at {binding.value} with an empty reason"))
    return Verdict(Refuse(value))


def refused(hook: HookManifest, binding: Binding, defect: str) -> Refuse:
    """What a policy hook that gives no answer comes to."""
    return Refuse(f"the policy hook {hook.name} gave no answer at {binding.value}: {defect}")


def _decision(hook: HookManifest, binding: Binding, arm: str, value: Any) -> Decision:
    match arm:
        case "replace-context":
            return ReplaceContext(inward(value, by=binding, hook=hook.name))
        case "seed-context":
            return SeedContext(inward(value, by=binding, hook=hook.name))
        case "write-manifests":
            return WriteManifests(tuple(ToolManifest(one["binary-name"], one["content"]) for one in value))
        case "reopen-task":
            return Reopen(value)
        case _:
            return Artifact(value)
