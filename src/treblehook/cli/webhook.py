"""`treblehook webhook`: the secrets of webhooks, and how senders are pointed at them."""

import os
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from treblehook.cli.command_group import CommandGroup
from treblehook.cli.home_options import WRONG, does_not_load, home_option, output_option, say_json, say_problems
from treblehook.cli.output.safe_text import safe
from treblehook.home.place import locate_home, make_home_folder
from treblehook.home.settings import load_settings
from treblehook.host.problems import ConfigInvalid

_HOW: Final = """\
Webhook {name}: its secret is in {file}
A daemon reads it when it starts; one that is running has to be started again.

  address   {url}
  secret    {secret}

GitHub    Settings, Webhooks, Add webhook.
          Payload URL: the address as your tunnel shows it (below). Content type: application/json. Secret: the one above.
          The header is X-Hub-Signature-256. GitHub tells no time, so a copy of a delivery is refused for five minutes only.

Stripe    Developers, Webhooks, Add endpoint, with the address as your tunnel shows it. Stripe makes the secret itself: put its
          signing secret (whsec_...) in the place of this one in {file}
          The header is Stripe-Signature.

curl      On this machine, as it is:

  {curl}

Who reaches it: the address is behind the daemon's bearer layer. Callers on this machine pass it; others get a 401 before their
signature is looked at, so pointing GitHub straight at the port does not work. A sender on the internet needs a tunnel or proxy
that ends on this machine and adds no X-Forwarded-For hop that is not loopback. Its host name belongs into config.toml:

  [web]
  hosts = ["hooks.example.org"]
"""


@click.group(name="webhook", cls=CommandGroup)
def command() -> None:
    """Mint and list the secrets of webhooks."""


@command.command(name="add")
@click.argument("name")
@click.option("--home", metavar="DIR", help="Folder with the hooks; else $TREBLEHOOK_HOME, else ~/.treblehook.")
@click.option("--rotate", is_flag=True, help="Replace the secret that there is.")
@click.pass_context
def add(context: click.Context, name: str, home: str | None, rotate: bool) -> None:
    """Mint the secret of the webhook NAME, and say how GitHub, Stripe and curl are pointed at it."""
    if find_spec("tomlkit") is None:
        raise click.UsageError("webhook add needs tomlkit: pip install 'treblehook[serve]'")
    from treblehook.daemon.settings import web_settings
    from treblehook.daemon.webhooks.minting import NAME, SecretExists, mint
    from treblehook.daemon.webhooks.secrets import FILE

    if not NAME.fullmatch(name):
        raise click.BadParameter(f"{name!r} is no name of a webhook; allowed: letters, digits, _ and -", context, param_hint="NAME")
    try:
        place = make_home_folder(locate_home(home, os.environ))
        settings, _ = web_settings(load_settings(place).web, str(place / "config.toml"))
        secret = mint(place, name, rotate=rotate)
    except ConfigInvalid as invalid:
        does_not_load(invalid.problems)
    except SecretExists as exists:
        click.echo(f"error: {exists}", err=True)
        context.exit(WRONG)
    url = f"http://127.0.0.1:{settings.port}/api/webhook/{name}"
    click.echo(safe(_HOW.format(name=name, file=place / FILE, url=url, secret=secret, curl=_curl(url, secret))), nl=False)


@command.command(name="list")
@home_option
@output_option
def list_(home: Path, output: str) -> None:
    """List the webhooks that verify; what is wrong with others is told on standard error."""
    from treblehook.daemon.webhooks.secrets import load_secrets

    secrets, problems = load_secrets(home)
    say_problems(problems)
    for name in sorted(secrets):
        if output == "jsonl":
            say_json({"type": "webhook", "name": name})
        else:
            click.echo(safe(name))
    if not secrets and output == "text":
        click.echo("No webhook verifies. `treblehook webhook add NAME` makes one.")


def _curl(url: str, secret: str) -> str:
    """One line for a shell that sends a signed delivery."""
    sign = f"printf '%s.%s' \"$t\" \"$body\" | openssl dgst -sha256 -hmac {shlex.quote(secret)} | sed 's/^.*= *//'"
    send = 'curl -sS --data-binary "$body" -H \'Content-Type: application/json\' -H "X-Crucible-Signature: t=$t,v1=$v1"'
    return f'body=\'{{"hello":"world"}}\'; t=$(date +%s); v1=$({sign}); {send} {url}'
