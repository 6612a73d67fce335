"""`treblehook hooks build`: the source of a murmur hook to a component and a package."""

from pathlib import Path

import click

from treblehook.cli.output.safe_text import safe
from treblehook.contracts.murmur.authoring.errors import BuildFailed


@click.command(name="build")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.pass_context
def build(context: click.Context, folder: Path) -> None:
    """Build the hook in DIR: its hook.py or hook.c to NAME.wasm, and that with its murmur.yaml to NAME-VERSION.mur.zip.

    Needs `pip install 'treblehook[wasm-build]'`. A Python hook takes some ten seconds and has about 18 MB.

    Exit status 1 where it cannot be built.
    """
    # What compiles is loaded for this command alone.
    from treblehook.contracts.murmur.authoring.building import build as build_hook

    try:
        built = build_hook(folder)
    except BuildFailed as failed:
        click.secho(f"error: {safe(str(failed))}", fg="red", err=True)
        context.exit(1)
    click.echo(f"{built.component} has {built.bytes:,} bytes; {built.package} is the package")
