"""Sending what span hooks have left in their scopes, once their session is over."""

from collections.abc import Iterable

from treblehook.contracts.murmur.faults import FaultSink
from treblehook.contracts.murmur.launch import Launch
from treblehook.contracts.murmur.spans import send_spans
from treblehook.contracts.murmur.staging import StagedHook

ENDPOINT = "MURMUR_OTEL_ENDPOINT"


async def send_all_spans(hooks: Iterable[StagedHook], launch: Launch, sink: FaultSink) -> None:
    """For each hook with a scope and a network grant, where an endpoint is set; what goes wrong is in the hook's log."""
    endpoint = launch.environment.get(ENDPOINT)
    if not endpoint:
        return
    for hook in hooks:
        if hook.grant.scope is not None and hook.grant.network:
            for problem in await send_spans(launch.accessible_workdir / hook.grant.scope, endpoint, hook.grant):
                sink.log(hook.manifest.name, problem)
