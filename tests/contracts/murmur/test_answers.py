"""What a return comes to: every binding, policy, mode and arm (murmur.md 2.4, 4.3, 5.3, D-2)."""

from itertools import product
from typing import Any

import pytest

from treblehook.contracts.murmur.answers import Read, Verdict, decided, observed, refused
from treblehook.contracts.murmur.bindings import GATEABLE, HONOURED, Binding, CommitPolicy, ExecutionMode
from treblehook.contracts.murmur.errors import HookConfigInvalid
from treblehook.contracts.murmur.hook_manifest import HookManifest, parse_hook_manifest
from treblehook.lifecycle import Artifact, Decision, Message, Refuse, Reopen, ReplaceContext, SeedContext, ToolManifest, WriteManifests

RECORD = {"role": "user", "content": '"x"', "id": None, "source-id": None, "inserted-by": None}
ARMS: dict[str, Any] = {
    "none": None,
    "replace-context": [RECORD],
    "write-manifests": [{"binary-name": "rg", "content": "X"}],
    "artifact": "{}",
    "reopen-task": "again",
    "seed-context": [RECORD],
    "deny": "no",
}
COMMITTED: dict[tuple[Binding, str], Decision] = {
    (Binding.STAGE, "write-manifests"): WriteManifests((ToolManifest("rg", "X"),)),
    (Binding.TASK_START, "seed-context"): SeedContext((Message("user", "x", source="on-task-start", hook="h"),)),
    (Binding.INFERENCE, "artifact"): Artifact("{}"),
    (Binding.COMPACTION, "replace-context"): ReplaceContext((Message("user", "x", source="on-compaction", hook="h"),)),
    (Binding.TASK_END, "reopen-task"): Reopen("again"),
}
"""All that any hook can commit, and where."""


def hook(binding: Binding | None, mode: ExecutionMode, policy: CommitPolicy) -> HookManifest | None:
    """None where no such hook can be staged."""
    text = f"execution_mode: {mode.value}\ncommit_policy: {policy.value}\n" + (f"binding: {binding.value}\n" if binding else "")
    try:
        return parse_hook_manifest(text, "h", "1")
    except HookConfigInvalid:
        return None


HOOKS = [found for each in product([None, *Binding], ExecutionMode, CommitPolicy) if (found := hook(*each)) is not None]


def expected(manifest: HookManifest, binding: Binding, arm: str) -> Read:
    """The rule, told the other way round: from what is committed."""
    if arm == "none":
        return Read()
    decision = COMMITTED.get((binding, arm))
    if decision is None:
        return Read(fault=arm)
    if manifest.mode is ExecutionMode.ASYNC:
        return Read()
    if arm == "artifact" or manifest.policy.value == arm:
        return Read(decision)
    return Read() if manifest.policy is CommitPolicy.NONE else Read(fault=arm)


def test_the_hooks_that_there_can_be() -> None:
    # Blocking with none, async with none, with the honoured policy, and without a binding.
    assert len(HOOKS) == 10 + 9 + 6 + 4


@pytest.mark.parametrize("arm", ARMS)
def test_the_whole_matrix_after_the_fact(arm: str) -> None:
    for manifest in HOOKS:
        for binding in Binding:
            if manifest.hears(binding):
                assert observed(manifest, binding, arm, ARMS[arm]) == expected(manifest, binding, arm), (manifest, binding)


def test_case_121_134_032_what_no_policy_names_is_discarded() -> None:
    for binding, arm in [(Binding.COMPACTION, "replace-context"), (Binding.TASK_END, "reopen-task"), (Binding.STAGE, "write-manifests")]:
        assert observed(HookManifest("h", "1", binding), binding, arm, ARMS[arm]) == Read()


def test_case_081_082_and_083_a_denial_after_the_call_denies_nothing() -> None:
    for manifest in (HookManifest("h", "1"), HookManifest("h", "1", Binding.SHELL, policy=CommitPolicy.DENY)):
        for binding in filter(manifest.hears, Binding):
            assert observed(manifest, binding, "deny", "no") == Read(fault="deny")


@pytest.mark.parametrize("binding", GATEABLE)
@pytest.mark.parametrize("arm", ARMS)
def test_case_077_before_the_call_only_none_lets_it_pass(binding: Binding, arm: str) -> None:
    verdict = decided(HookManifest("h", "1", binding, policy=CommitPolicy.DENY), binding, arm, ARMS[arm])

    if arm == "none":
        assert verdict == Verdict()
    elif arm == "deny":
        assert verdict == Verdict(Refuse("no"))
    else:
        assert verdict.fault == arm
        assert verdict.refusal is not None
        assert all(word in verdict.refusal.reason for word in ("h", arm, binding.value, "only deny and none"))


@pytest.mark.parametrize("reason", ["", " ", "\n\t ", "\u2003"])
def test_case_071_a_denial_without_a_reason_gets_one(reason: str) -> None:
    verdict = decided(HookManifest("guard", "1", Binding.SHELL, policy=CommitPolicy.DENY), Binding.SHELL, "deny", reason)

    assert verdict.fault == ""
    assert verdict.refusal is not None
    assert all(word in verdict.refusal.reason for word in ("guard", "on-shell", "empty reason"))


def test_a_reason_is_given_word_for_word() -> None:
    verdict = decided(HookManifest("guard", "1", Binding.SHELL, policy=CommitPolicy.DENY), Binding.SHELL, "deny", "  no\n")

    assert verdict.refusal == Refuse("  no\n")


def test_without_an_answer_the_refusal_names_hook_event_and_defect() -> None:
    refusal = refused(HookManifest("guard", "1", Binding.SHELL), Binding.SHELL, "it trapped")

    assert all(word in refusal.reason for word in ("guard", "on-shell", "it trapped"))


def test_the_table_of_the_contract() -> None:
    assert {binding.value: policy.value for binding, policy in HONOURED.items() if policy is not CommitPolicy.NONE} == {
        "on-stage": "write-manifests",
        "on-task-start": "seed-context",
        "on-tool-call": "deny",
        "on-shell": "deny",
        "on-compaction": "replace-context",
        "on-task-end": "reopen-task",
    }
