"""What is counted, and `GET /metrics`, which tells it as Prometheus reads it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from treblehook.daemon.http.operation import Answered, Operation
from treblehook.daemon.webhooks.endpoint import PATH as WEBHOOK
from treblehook.engine import Call
from treblehook.engine.journal import Watcher

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[tuple[str, str], ...]


class Family(Struct, frozen=True):
    """One metric: its samples, each by its labels. The names of those of a summary are `name` with the suffix of the key."""

    name: str
    kind: Literal["counter", "gauge", "summary"]
    help: str
    samples: Mapping[Labels, float]
    counts: Mapping[Labels, float] | None = None


class Metrics(Watcher):
    """Counts calls of hooks, deliveries and refused requests. As a journal's watcher it counts that journal's calls."""

    def __init__(self) -> None:
        self._calls: Counter[Labels] = Counter()
        self._seconds: defaultdict[Labels, float] = defaultdict(float)
        self._webhooks: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()

    def finished(self, calls: Sequence[Call]) -> None:
        """Calls of hooks are over."""
        for call in calls:
            origin, ended = call.handler.origin, call.ended
            labels = (("contract", origin.contract), ("event", origin.event), ("ended", ended.value if ended else "open"))
            self._calls[labels] += 1
            self._seconds[labels] += call.ms / 1000

    def delivery(self, result: str) -> None:
        """A delivery was `accepted`, or refused for `result`."""
        self._webhooks[result] += 1

    def refused(self, path: str, code: str) -> None:
        """A request came no further than the edge."""
        if path.startswith(WEBHOOK):
            self.delivery(code)
        self._refused[code] += 1

    def families(self) -> list[Family]:
        """What has been counted."""
        return [
            Family("treblehook_hook_seconds", "summary", "Calls of hooks, and the time they took.", self._seconds, self._calls),
            Family("treblehook_webhooks_total", "counter", "Deliveries, by what became of them.", _by("result", self._webhooks)),
            Family(
                "treblehook_refused_requests_total", "counter", "Requests that came no further than the edge.", _by("reason", self._refused)
            ),
        ]


def _by(label: str, counts: Mapping[str, int]) -> dict[Labels, float]:
    return {((label, value),): count for value, count in counts.items()}


def metrics_operation(families: Callable[[], Iterable[Family]]) -> Operation:
    """The route; `families` is asked at each request."""

    async def tell(request: Request) -> Response:
        return Response(exposition(families()), media_type=MEDIA_TYPE)

    return Operation(
        "GET", "/metrics", "getMetrics", "What is counted", {200: Answered("Prometheus text format", media_type=MEDIA_TYPE)}, handle=tell
    )


def exposition(families: Iterable[Family]) -> str:
    """The metrics in the text format of Prometheus, version 0.0.4."""
    lines = []
    for family in families:
        lines += [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.kind}"]
        suffix = "_sum" if family.kind == "summary" else ""
        lines += [_sample(f"{family.name}{suffix}", labels, value) for labels, value in family.samples.items()]
        lines += [_sample(f"{family.name}_count", labels, value) for labels, value in (family.counts or {}).items()]
    return "\n".join(lines) + "\n"


def _sample(name: str, labels: Labels, value: float) -> str:
    told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{told}}} {value!r}" if told else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
