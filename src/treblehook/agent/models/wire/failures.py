"""The library's errors as ours: one line, and whether to ask again."""

import errno
import os
from collections.abc import Mapping

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    UserError,
)

from treblehook.agent.models.access import Access
from treblehook.agent.models.model import ModelFailed
from treblehook.agent.models.statuses import status_failure

_LONGEST = 300


def failure_of(spec: str, access: Access, error: Exception) -> ModelFailed:
    """What an exception of the library means. What it does not name is a reply that could not be read."""
    match error:
        case ModelHTTPError():
            return _answered(spec, access, error)
        case ModelTimeoutError():
            return ModelFailed(spec, "timeout", f"no answer from {access.url} in time", retryable=True)
        case ModelConnectionError(phase="connect" | "pool"):
            return ModelFailed(spec, "refused", f"cannot connect to {access.url}: {_cause(error)}", retryable=True)
        case ModelConnectionError():
            return ModelFailed(spec, "cut", f"the connection to {access.url} broke: {_cause(error)}", retryable=True)
        case ModelAPIError(in_stream=True):
            return ModelFailed(spec, "server", _one_line(_words(error.body) or str(error)), retryable=True)
        case UserError():
            return ModelFailed(spec, "rejected", _one_line(str(error)))
    return ModelFailed(spec, "malformed", f"the reply cannot be read: {_one_line(str(error)) or type(error).__name__}", retryable=True)


def _answered(spec: str, access: Access, error: ModelHTTPError) -> ModelFailed:
    words = _one_line(_words(error.body))
    if isinstance(error, ModelQuotaExceededError):
        return ModelFailed(spec, "rejected", f"HTTP {error.status_code}: {words}", status=error.status_code)
    if error.status_code in (401, 403):
        words = f"{words or 'not allowed'} (check {access.key_variable})"
    return status_failure(spec, error.status_code, words, retry_after=error.retry_after)


def _words(body: object) -> str:
    """The provider's message, wherever in the body of its error it stands."""
    if isinstance(body, Mapping):
        return _words(body["error"]) if "error" in body else str(body.get("message") or body.get("type") or "")
    if isinstance(body, list):
        return _words(body[0]) if body else ""
    return str(body or "")


def _cause(error: BaseException) -> str:
    """The innermost cause, which is the operating system's or the HTTP library's."""
    while inner := error.__cause__ or error.__context__ or (error.exceptions[0] if isinstance(error, BaseExceptionGroup) else None):
        error = inner
    if isinstance(error, OSError) and error.errno is not None and error.errno in errno.errorcode:
        # The event loop puts its own words, with the address once more, in the place of the system's.
        return os.strerror(error.errno)
    return _one_line(str(error)) or type(error).__name__


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
