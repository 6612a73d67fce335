"""The model layer of our own agent lives here: providers over the wire and the scripted model; no session, turn or hook may.

`model.py` says what a model is to the agent, `opening.py` turns a SPEC into one, `retry.py` asks again where that helps.
Behind it are two kinds of model: `wire/` reaches a provider over HTTP, `script/` plays a file and needs no key. Nothing here
loads a model library before the first request or `warm`.
"""

from treblehook.agent.models.model import (
    FailureKind,
    Model,
    ModelFailed,
    ModelQuery,
    ModelReply,
    ModelSpecInvalid,
    Stop,
    Usage,
)
from treblehook.agent.models.opening import open_model, warm
from treblehook.agent.models.retry import reply_with_retries

__all__ = [
    "FailureKind",
    "Model",
    "ModelFailed",
    "ModelQuery",
    "ModelReply",
    "ModelSpecInvalid",
    "Stop",
    "Usage",
    "open_model",
    "reply_with_retries",
    "warm",
]
