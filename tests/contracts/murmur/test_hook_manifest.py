"""What a hook says of itself (murmur.md 2.2 to 2.5, cases 1 to 17)."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.contracts.murmur.bindings import HONOURED, Binding, CommitPolicy, ExecutionMode
from treblehook.contracts.murmur.errors import HookConfigInvalid
from treblehook.contracts.murmur.hook_manifest import HookManifest, parse_hook_manifest


def parse(text: str) -> HookManifest:
    return parse_hook_manifest(text, "guard", "1.2.0")


def refused(text: str) -> str:
    with pytest.raises(HookConfigInvalid) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith("hook guard@1.2.0 invalid config: ")
    return message


@pytest.mark.parametrize("binding", [Binding.SHELL, Binding.TOOL_CALL])
def test_case_001_and_002_a_policy_hook(binding: Binding) -> None:
    hook = parse(f"binding: {binding.value}\ncommit_policy: deny\n")

    assert (hook.binding, hook.mode, hook.is_policy) == (binding, ExecutionMode.BLOCKING, True)


def test_case_003_what_is_left_out(  # the defaults of 2.2
) -> None:
    hook = parse("name: guard\nruntime: hook\n")

    assert hook == HookManifest("guard", "1.2.0", None, ExecutionMode.BLOCKING, CommitPolicy.NONE)
    assert [one for one in Binding if hook.hears(one)] == [one for one in Binding if one is not Binding.STAGE]


def test_case_004_an_artifact_has_no_spelling() -> None:
    message = refused("binding: on-inference\ncommit_policy: replace-context\n")

    assert all(word in message for word in ("replace-context", "on-inference", "honours none", "no policy spelling"))


def test_case_005_a_binding_that_commits_nothing() -> None:
    message = refused("binding: on-session-start\ncommit_policy: seed-context\n")

    assert all(word in message for word in ("seed-context", "on-session-start", "honours none"))
    assert "spelling" not in message


def test_case_006_deny_needs_a_binding() -> None:
    message = refused("commit_policy: deny\n")

    assert "on-shell" in message
    assert "on-tool-call" in message


@pytest.mark.parametrize("policy", [one.value for one in CommitPolicy if one is not CommitPolicy.DENY])
def test_case_008_an_unbound_hook_may_have_any_other_policy(policy: str) -> None:
    assert parse(f"commit_policy: {policy}\n").policy.value == policy


@pytest.mark.parametrize("text", ["binding: on-shell\n", "", "binding: on-stage\n"])
def test_case_009_and_012_async_commits_nothing(text: str) -> None:
    message = refused(f"{text}execution_mode: async\ncommit_policy: deny\n")

    assert "async with commit is unsupported" in message
    assert "none" in message
    assert "deny" in message


def test_case_010_on_stage_is_never_async() -> None:
    message = refused("binding: on-stage\nexecution_mode: async\n")

    assert "on-stage hooks must be blocking" in message


def test_case_011_async_comes_before_the_stage() -> None:
    assert "async with commit" in refused("binding: on-stage\nexecution_mode: async\ncommit_policy: write-manifests\n")


def test_case_013_deny_at_a_compaction() -> None:
    message = refused("binding: on-compaction\ncommit_policy: deny\n")

    assert "honours replace-context" in message


@pytest.mark.parametrize(
    ("key", "value", "choices"),
    [
        ("binding", "on-foo", [one.value for one in Binding]),
        ("execution_mode", "sync", ["blocking", "async"]),
        ("commit_policy", "allow", [one.value for one in CommitPolicy]),
    ],
)
def test_case_014_an_unknown_word(key: str, value: str, choices: list[str]) -> None:
    message = refused(f"{key}: {value}\n")

    assert all(word in message for word in (key, value, *choices))


@pytest.mark.parametrize("value", ["[on-shell]", "{a: b}", "7", "true", "null", "~", ""])
@pytest.mark.parametrize("key", ["binding", "execution_mode", "commit_policy"])
def test_case_015_a_value_that_is_no_text_is_not_read_as_absent(key: str, value: str) -> None:
    assert key in refused(f"{key}: {value}\n")


@pytest.mark.parametrize(
    "text", ["- a\n- b\n", "just a text", "7", "", "a: [", "a: *b", "a: 1\na: 2\n", "\x00", "a: 2026-13-45\n", "[" * 5000]
)
def test_a_manifest_that_is_no_table(text: str) -> None:
    refused(text)


def test_order_of_the_rules() -> None:
    both = "binding: on-foo\nexecution_mode: sync\ncommit_policy: allow\n"

    assert "binding" in refused(both)
    assert "execution_mode" in refused(both.replace("on-foo", "on-shell"))
    assert "commit_policy" in refused(both.replace("on-foo", "on-shell").replace("sync", "async"))


@given(st.sampled_from([None, *Binding]), st.sampled_from(ExecutionMode), st.sampled_from(CommitPolicy))
def test_the_matrix(binding: Binding | None, mode: ExecutionMode, policy: CommitPolicy) -> None:
    lines = [f"execution_mode: {mode.value}", f"commit_policy: {policy.value}"]
    if binding is not None:
        lines.append(f"binding: {binding.value}")
    commits = policy is not CommitPolicy.NONE
    admitted = policy is not CommitPolicy.DENY if binding is None else not commits or policy is HONOURED[binding]
    valid = admitted and not (mode is ExecutionMode.ASYNC and (commits or binding is Binding.STAGE))

    if valid:
        parse("\n".join(lines))
    else:
        refused("\n".join(lines))


def test_case_018_capabilities_of_the_hook_itself_are_inert() -> None:
    assert parse("capabilities:\n  network:\n    allow: ['*']\n") == parse("{}")


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_gives_a_manifest_or_a_refusal(text: str | bytes) -> None:
    with suppress(HookConfigInvalid):
        assert parse_hook_manifest(text, "guard", "1.2.0").name == "guard"


@pytest.mark.parametrize(("text", "version"), [("version: 2.1.0", "2.1.0"), ("version: 2", "2"), ("version: 1.5", "1.5")])
def test_a_version_that_is_left_to_the_hook(text: str, version: str) -> None:
    assert parse_hook_manifest(text, "guard", "").version == version
    assert parse_hook_manifest(text, "guard", "1.2.0").version == "1.2.0"


@pytest.mark.parametrize("text", ["binding: on-shell", "version: [1]", "version:", "version: true"])
def test_a_version_that_nobody_says(text: str) -> None:
    with pytest.raises(HookConfigInvalid, match="version: found none"):
        parse_hook_manifest(text, "guard", "")


@pytest.mark.parametrize("runtime", ["tool", "[hook]", "~"])
def test_another_role_is_refused(runtime: str) -> None:
    assert "allowed: hook" in refused(f"runtime: {runtime}")
