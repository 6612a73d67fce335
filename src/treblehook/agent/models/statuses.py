"""What an HTTP status says about a failed request, whoever gave it."""

from treblehook.agent.models.model import FailureKind, ModelFailed

_KINDS: dict[int, FailureKind] = {
    401: "unauthorized",
    403: "unauthorized",
    408: "timeout",
    409: "server",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}


def status_failure(spec: str, status: int, words: str, *, retry_after: float | None = None) -> ModelFailed:
    """The failure behind a status of 400 and more; `words` are the provider's own.

    What passes by itself is retryable: a conflict, a timeout, too many requests, and every fault of the server's.
    """
    kind = _KINDS.get(status) or ("server" if status >= 500 else "rejected")
    retryable = status in (408, 409, 429) or status >= 500
    detail = f"HTTP {status}: {words}" if words else f"HTTP {status}"
    return ModelFailed(spec, kind, detail, status=status, retryable=retryable, retry_after=retry_after)
