"""When a hook fires, how it is run, and what is done with its answer (murmur.md 2.3, 2.4)."""

from enum import Enum
from typing import Final


class Binding(Enum):
    """The nine lifecycle points, in the order in which they come."""

    STAGE = "on-stage"
    SESSION_START = "on-session-start"
    TASK_START = "on-task-start"
    INFERENCE = "on-inference"
    TOOL_CALL = "on-tool-call"
    SHELL = "on-shell"
    COMPACTION = "on-compaction"
    TASK_END = "on-task-end"
    SESSION_END = "on-session-end"


class ExecutionMode(Enum):
    """Whether the agent waits for the hook."""

    BLOCKING = "blocking"
    ASYNC = "async"


class CommitPolicy(Enum):
    """What becomes of the hook's answer."""

    NONE = "none"
    REPLACE_CONTEXT = "replace-context"
    WRITE_MANIFESTS = "write-manifests"
    REOPEN_TASK = "reopen-task"
    SEED_CONTEXT = "seed-context"
    DENY = "deny"


HONOURED: Final[dict[Binding, CommitPolicy]] = {
    Binding.STAGE: CommitPolicy.WRITE_MANIFESTS,
    Binding.SESSION_START: CommitPolicy.NONE,
    Binding.TASK_START: CommitPolicy.SEED_CONTEXT,
    # It commits an artifact, an arm that no policy spells.
    Binding.INFERENCE: CommitPolicy.NONE,
    Binding.TOOL_CALL: CommitPolicy.DENY,
    Binding.SHELL: CommitPolicy.DENY,
    Binding.COMPACTION: CommitPolicy.REPLACE_CONTEXT,
    Binding.TASK_END: CommitPolicy.REOPEN_TASK,
    Binding.SESSION_END: CommitPolicy.NONE,
}
"""The one policy beside `none` that each binding admits."""

GATEABLE: Final = (Binding.SHELL, Binding.TOOL_CALL)
