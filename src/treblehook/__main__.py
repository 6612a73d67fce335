"""`python -m treblehook` is the `treblehook` command."""

from treblehook.cli.main import main

if __name__ == "__main__":
    main(prog_name="treblehook")
