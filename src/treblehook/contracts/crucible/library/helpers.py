"""`cru.retry`, `cru.ratelimit`, `cru.emitter`, `cru.check`: small tools for plugins, written in Lua (`lua/`)."""

import asyncio
import random
import time
from typing import Any

from treblehook.contracts.crucible.library.arguments import Arguments
from treblehook.contracts.crucible.library.kinds import COUNT, FLAG, FUNCTION, SECONDS, SOME_SECONDS, TEXT
from treblehook.contracts.crucible.library.library import Library


def install_retry(library: Library) -> None:
    library.provide_lua("cru.retry", "retry", _retry_options, _sleep, random.random)


def install_ratelimit(library: Library) -> None:
    library.provide_lua("cru.ratelimit.new", "ratelimit", _limiter_options, time.monotonic, _sleep)


def install_emitter(library: Library) -> None:
    library.provide_lua("cru.emitter.new", "emitter", _check_listener)


def install_check(library: Library) -> None:
    library.provide_lua("cru.check", "check")


def _retry_options(*given: object) -> dict[str, Any]:
    call = Arguments("cru.retry", given)
    call.take("function", FUNCTION)
    options = call.options("max_retries", "base_delay", "max_delay", "jitter", "retryable")
    return {
        "max_retries": options.read("max_retries", COUNT, 3),
        "base_delay": options.read("base_delay", SECONDS, 1.0),
        "max_delay": options.read("max_delay", SECONDS, 60.0),
        "jitter": options.read("jitter", FLAG, True),
        "retryable": options.read("retryable", FUNCTION),
    }


def _limiter_options(*given: object) -> dict[str, float]:
    options = Arguments("cru.ratelimit.new", given).options("capacity", "interval")
    return {"capacity": options.read("capacity", COUNT, 5) or 1, "interval": options.read("interval", SOME_SECONDS, 1.0)}


def _check_listener(method: str, *given: object) -> None:
    call = Arguments(method, given)
    call.take("event", TEXT)
    call.take("function", FUNCTION)


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)
