"""The route of deliveries, as the document tells it."""

from msgspec import Struct

from treblehook.daemon.http.answers import MEDIA_TYPE
from treblehook.daemon.http.operation import Answered, Operation, Parameter
from treblehook.daemon.webhooks.endpoint import PATH, WebhookEndpoint
from treblehook.daemon.webhooks.signatures import SIGNATURE_HEADERS


class DeliveryStatus(Struct, frozen=True):
    """The delivery has been stored. Its handlers may not have run yet; they run at least once."""

    status: str


def webhook_operation(endpoint: WebhookEndpoint) -> Operation:
    """The route."""
    signatures = tuple(
        Parameter(name.decode(), "header", {"type": "string"}, "A signature; the first of these headers that is there decides.")
        for name in SIGNATURE_HEADERS
    )
    return Operation(
        "POST",
        f"{PATH}{{name:path}}",
        "deliver",
        "Deliver a signed webhook",
        {200: Answered("It has been stored", DeliveryStatus)},
        "The body is handed on byte for byte. Whatever is wrong with the signature or the name, the answer is the same 401.",
        app=endpoint,
        raw=MEDIA_TYPE,
        parameters=signatures,
        errors=(400, 401, 404, 415, 502),
    )
