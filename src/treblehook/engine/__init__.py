"""Registry, dispatch, folds, deadlines, background work and journal live here; no contract, runtime or host may be known here.

Read `dispatch.py` first: one event from the registry to its outcome.
"""

from treblehook.engine.background import Background, GaveUp
from treblehook.engine.dispatch import Dispatcher
from treblehook.engine.errors import (
    BackgroundClosed,
    BindError,
    HookFailed,
    HookGivenUp,
    HookNotStarted,
    HookProblem,
    HookTimedOut,
    QueueFull,
)
from treblehook.engine.handler import (
    DETACHED,
    INLINE,
    Answer,
    Detached,
    Handler,
    Inline,
    Lane,
    Mode,
    OnFailure,
    Origin,
    Queued,
    Tier,
)
from treblehook.engine.journal import Call, Ended, Journal, Watcher
from treblehook.engine.outcome import Contribution, Outcome
from treblehook.engine.registry import Registry

__all__ = [
    "DETACHED",
    "INLINE",
    "Answer",
    "Background",
    "BackgroundClosed",
    "BindError",
    "Call",
    "Contribution",
    "Detached",
    "Dispatcher",
    "Ended",
    "GaveUp",
    "Handler",
    "HookFailed",
    "HookGivenUp",
    "HookNotStarted",
    "HookProblem",
    "HookTimedOut",
    "Inline",
    "Journal",
    "Lane",
    "Mode",
    "OnFailure",
    "Origin",
    "Outcome",
    "QueueFull",
    "Queued",
    "Registry",
    "Tier",
    "Watcher",
]
