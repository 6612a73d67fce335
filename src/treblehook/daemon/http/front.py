"""The short way for calls that come by the thousand: past the router, whose work costs as much as all the rest."""

from collections.abc import Mapping
from typing import Any

from treblehook.daemon.http.answers import ApiError, error_answer
from treblehook.daemon.http.body import Receive
from treblehook.daemon.http.edge import App, Send


class Front:
    """An ASGI app: of `apps`, by the beginning of the path, the one for what is posted there, and `others` for every other request."""

    def __init__(self, apps: Mapping[str, App], others: App) -> None:
        self._apps = tuple(apps.items())
        self._others = others

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Take one request."""
        app = self._app(scope["path"]) if scope["method"] == "POST" else self._others
        try:
            await app(scope, receive, send)
        except ApiError as error:
            await error_answer(error)(scope, receive, send)

    def _app(self, path: str) -> App:
        for beginning, app in self._apps:
            if path.startswith(beginning):
                return app
        return self._others
