"""The short way for deliveries, which come by the thousand: past the router, whose work costs as much as all the rest."""

from typing import Any

from treblehook.daemon.http.answers import ApiError, error_answer
from treblehook.daemon.http.body import Receive
from treblehook.daemon.http.edge import App, Send
from treblehook.daemon.webhooks.endpoint import PATH, WebhookEndpoint


class Front:
    """An ASGI app: `webhooks` for what is delivered, `others` for every other request."""

    def __init__(self, webhooks: WebhookEndpoint, others: App) -> None:
        self._webhooks = webhooks
        self._others = others

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Take one request."""
        if scope["method"] != "POST" or not scope["path"].startswith(PATH):
            await self._others(scope, receive, send)
            return
        try:
            await self._webhooks(scope, receive, send)
        except ApiError as error:
            await error_answer(error)(scope, receive, send)
