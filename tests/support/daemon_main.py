"""`python -m tests.support.daemon_main HOME`: `treblehook serve` with a hook that writes each delivery it gets into
`HOME/received` and then waits for ever while there is a file `HOME/hold`."""

import asyncio
import json
import sys
from pathlib import Path

from treblehook.cli import serve
from treblehook.cli.main import main
from treblehook.contracts.python import Hooks
from treblehook.home.home import Home
from treblehook.lifecycle import WebhookReceived


class HookedHome(Home):
    """A home with that hook in its own registry."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # what the command gives it
        hooks = Hooks()

        @hooks.on(WebhookReceived)
        async def keep(event: WebhookReceived) -> None:
            with (self.path / "received").open("a") as file:
                file.write(json.dumps({"name": event.name, "body": event.body, "headers": event.headers}) + "\n")
            while (self.path / "hold").exists():
                await asyncio.sleep(0.005)

        hooks.bind(self.registry)


if __name__ == "__main__":
    setattr(serve, "Home", HookedHome)  # noqa: B010  # the command's own import of it
    main(["serve", "--home", str(Path(sys.argv[1])), "--port", "0", *sys.argv[2:]], prog_name="treblehook")
