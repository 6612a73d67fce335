"""Asking again where that may help: the one policy for every model."""

from collections.abc import Awaitable, Callable

from treblehook.agent.models.model import Model, ModelFailed, ModelQuery, ModelReply

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
# A provider that asks for more has shut the door; the user decides.
_LONGEST_ASKED = 120.0


async def reply_with_retries(
    model: Model,
    query: ModelQuery,
    on_text: Callable[[str], None],
    *,
    sleep: Callable[[float], Awaitable[object]],
    random: Callable[[], float],
    on_retry: Callable[[ModelFailed, float], None],
    attempts: int = 4,
) -> ModelReply:
    """Ask up to `attempts` times, while the failures are retryable; raises the last `ModelFailed`.

    Waits half a second, doubled each time up to 30 s, less a random part of up to half (`random` gives 0 to 1), or as long as
    the provider asked for, up to two minutes. `on_retry` gets each failure and the wait in seconds before the next attempt:
    whatever text came before it is void.
    """
    attempt = 1
    while True:
        try:
            return await model.reply(query, on_text)
        except ModelFailed as failure:
            if not failure.retryable or (failure.retry_after or 0) > _LONGEST_ASKED:
                raise
            if attempt == attempts:
                raise _exhausted(failure, attempts) from failure
            wait = _wait(attempt, random()) if failure.retry_after is None else failure.retry_after
            on_retry(failure, wait)
        await sleep(wait)
        attempt += 1


def _wait(attempt: int, chance: float) -> float:
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1)) * (1 - chance / 2)


def _exhausted(failure: ModelFailed, attempts: int) -> ModelFailed:
    return ModelFailed(
        failure.spec,
        failure.kind,
        f"{failure.detail} (asked {attempts} times)",
        status=failure.status,
        retryable=failure.retryable,
        retry_after=failure.retry_after,
    )
