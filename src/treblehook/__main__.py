"""`python -m treblehook` is the `treblehook` command."""

from treblehook.cli.main import main

main(prog_name="treblehook")
