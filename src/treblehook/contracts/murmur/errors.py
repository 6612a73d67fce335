"""What keeps a hook from being staged. Nothing has run then."""


class StagingFailed(Exception):
    """Base: `artifact` is its name, `version` its version, "" where they are not known."""

    def __init__(self, artifact: str, version: str, message: str) -> None:
        super().__init__(message)
        self.artifact = artifact
        self.version = version


class HookConfigInvalid(StagingFailed):
    """What a hook says of itself does not hold; `detail` says what, `key` which key of its manifest (murmur.md 2.5)."""

    def __init__(self, artifact: str, version: str, key: str, detail: str) -> None:
        super().__init__(artifact, version, f"hook {artifact}@{version} invalid config: {detail}")
        self.key = key
        self.detail = detail


class ArtifactInvalid(StagingFailed):
    """A package cannot be read; `file` is its path, `remedy` what its author can do."""

    def __init__(self, artifact: str, version: str, file: str, problem: str, remedy: str) -> None:
        named = f"{artifact}@{version}" if version else artifact
        super().__init__(artifact, version, f"artifact {named}: {file}: {problem}; {remedy}")
        self.file = file
        self.problem = problem
        self.remedy = remedy


class HookUnusable(StagingFailed):
    """A hook cannot be loaded or started; `problem` is why, `remedy` what its author or its operator can do."""

    def __init__(self, artifact: str, version: str, problem: str, remedy: str) -> None:
        super().__init__(artifact, version, f"hook {artifact}@{version}: {problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy
