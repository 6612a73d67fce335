"""A hook's own `murmur.yaml`: its binding, its mode and its policy (murmur.md 2.2 to 2.5)."""

from enum import Enum
from typing import Any, Final, TypeVar

from msgspec import Struct

from treblehook.contracts.murmur.bindings import GATEABLE, HONOURED, Binding, CommitPolicy, ExecutionMode
from treblehook.contracts.murmur.errors import HookConfigInvalid
from treblehook.contracts.murmur.yaml_text import YamlInvalid, parse_yaml

E = TypeVar("E", bound=Enum)
_SPEAKING_NULL: Final = "found nothing; leave the key out, or name one of: {allowed}"


class HookManifest(Struct, frozen=True):
    """What a hook is. `binding` None means every event of a session, not `on-stage`."""

    name: str
    version: str
    binding: Binding | None = None
    mode: ExecutionMode = ExecutionMode.BLOCKING
    policy: CommitPolicy = CommitPolicy.NONE
    description: str = ""

    @property
    def is_policy(self) -> bool:
        """Whether calls are put before it; then its every failure refuses."""
        return self.policy is CommitPolicy.DENY

    def hears(self, binding: Binding) -> bool:
        """Whether it is told of `binding` (murmur.md D-1)."""
        return binding is self.binding or (self.binding is None and binding is not Binding.STAGE)


def parse_hook_manifest(text: str | bytes, name: str, version: str) -> HookManifest:
    """The manifest of the hook that the operator lists as `name` and `version`, the latter "" where he leaves it to the hook. Raises
    `HookConfigInvalid` for the first of the contract's rules that it breaks (murmur.md 2.5)."""
    try:
        content = parse_yaml(text)
    except YamlInvalid as invalid:
        raise HookConfigInvalid(name, version, "", str(invalid)) from invalid
    if not isinstance(content, dict):
        raise HookConfigInvalid(name, version, "", f"the manifest is {_kind(content)}; it must be a table of keys")
    version = version or _own_version(content)
    if not version:
        raise HookConfigInvalid(
            name, version, "version", "version: found none here nor in the operator's list; write one, as version: 1.0.0"
        )
    runtime = content.get("runtime", "hook")
    if runtime != "hook":
        raise HookConfigInvalid(name, version, "runtime", f"runtime: found {runtime!r}; allowed: hook")
    binding = _choice(content, "binding", Binding, name, version)
    mode = _choice(content, "execution_mode", ExecutionMode, name, version) or ExecutionMode.BLOCKING
    policy = _choice(content, "commit_policy", CommitPolicy, name, version) or CommitPolicy.NONE
    _check_together(binding, mode, policy, name, version)
    description = content.get("description")
    return HookManifest(name, version, binding, mode, policy, description if isinstance(description, str) else "")


def _own_version(content: dict[Any, Any]) -> str:
    """`1.0` is a number in YAML."""
    version = content.get("version")
    return str(version) if isinstance(version, str | int | float) and not isinstance(version, bool) else ""


def _choice(content: dict[Any, Any], key: str, choices: type[E], name: str, version: str) -> E | None:
    """The value of `key`. One that is no text is refused: read as absent it would make of one event all of them (A-5)."""
    if key not in content:
        return None
    value = content[key]
    allowed = ", ".join(choice.value for choice in choices)
    if value is None:
        raise HookConfigInvalid(name, version, key, f"{key}: {_SPEAKING_NULL.format(allowed=allowed)}")
    if not isinstance(value, str):
        raise HookConfigInvalid(name, version, key, f"{key}: found {_kind(value)}, which is no text; allowed: {allowed}")
    try:
        return choices(value)
    except ValueError:
        raise HookConfigInvalid(name, version, key, f"{key}: found {value!r}; allowed: {allowed}") from None


def _check_together(binding: Binding | None, mode: ExecutionMode, policy: CommitPolicy, name: str, version: str) -> None:
    """Rules 5 to 8, in their order."""
    commits = policy is not CommitPolicy.NONE
    if mode is ExecutionMode.ASYNC and commits:
        raise HookConfigInvalid(
            name,
            version,
            "execution_mode",
            f"async with commit is unsupported: execution_mode: async requires commit_policy: none, found commit_policy: {policy.value}",
        )
    if mode is ExecutionMode.ASYNC and binding is Binding.STAGE:
        raise HookConfigInvalid(
            name, version, "execution_mode", "binding: on-stage with execution_mode: async: on-stage hooks must be blocking"
        )
    if binding is None:
        if policy is CommitPolicy.DENY:
            raise HookConfigInvalid(
                name,
                version,
                "binding",
                f"commit_policy: deny needs an explicit binding, {' or '.join(one.value for one in GATEABLE)}: without one the hook "
                "would be asked at decision points that it was not written for",
            )
        return
    honoured = HONOURED[binding]
    if commits and policy is not honoured:
        note = " (this event commits an artifact, which has no policy spelling)" if binding is Binding.INFERENCE else ""
        raise HookConfigInvalid(
            name,
            version,
            "commit_policy",
            f"commit_policy: {policy.value} cannot be honoured at binding: {binding.value}, which honours {honoured.value}{note}",
        )


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    return "empty" if value is None else f"the value {value!r}"
