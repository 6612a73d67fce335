"""`<home>/webhooks.toml`: the secret of each webhook, read once when the daemon starts (crucible.md 8.4)."""

import os
import stat
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Final

from treblehook.home.table import Table
from treblehook.host.opening import open_unknown
from treblehook.host.problems import Problem

FILE: Final = "webhooks.toml"
SHORTEST_BYTES: Final = 16


def load_secrets(home: Path) -> tuple[dict[str, bytes], list[Problem]]:
    """The secrets by webhook, and warnings. Without a file, or with one that does not load, there is none: nothing verifies."""
    file = home / FILE
    try:
        with open_unknown(file) as reading:
            found = os.fstat(reading.fileno()).st_mode
            if not stat.S_ISREG(found):
                return {}, [_warning(file, "", "it is no regular file, so no webhook verifies")]
            mode, values = stat.S_IMODE(found), tomllib.load(reading)
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        return {}, [_warning(file, "", f"it cannot be read, so no webhook verifies: {error.strerror}")]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        return {}, [_warning(file, "", f"no TOML, so no webhook verifies: {error}")]
    problems: list[Problem] = []
    if mode & 0o077:
        problems.append(_warning(file, "", f"it has mode {mode:04o}: others may read the secrets", f"chmod 600 {file}"))
    return _secrets(values, file, problems), problems


def _secrets(values: dict[str, Any], file: Path, problems: list[Problem]) -> dict[str, bytes]:
    wrong: list[Problem] = []
    top = Table(values, str(file), "", wrong)
    found: dict[str, bytes] = {}
    for name, table in top.table("webhooks").tables().items():
        given = table.text("secret")
        table.unknown()
        if given is not None:
            found[name] = given.encode()
        elif "secret" not in table.values:
            wrong.append(_warning(file, table.place, "it has no secret, so it verifies nothing"))
    top.unknown()
    # What is wrong with one webhook keeps no other from working.
    problems.extend(_warning(file, problem.place, problem.message, problem.remedy) for problem in wrong)
    owners = Counter(found.values())
    kept = {}
    for name, secret in found.items():
        place = top.table("webhooks").table(name).at("secret")
        if len(secret) < SHORTEST_BYTES:
            message = f"it has {len(secret)} bytes; it is not used, so nothing verifies"
            problems.append(_warning(file, place, message, f"allowed: at least {SHORTEST_BYTES} bytes"))
        elif owners[secret] > 1:
            sharing = ", ".join(other for other, its in found.items() if its == secret)
            message = f"{sharing} share it: a delivery for one would verify for the other, so none of them does"
            problems.append(_warning(file, place, message, "treblehook webhook add NAME --rotate"))
        else:
            kept[name] = secret
    return kept


def _warning(file: Path, place: str, message: str, remedy: str = "") -> Problem:
    return Problem(str(file), place, message, remedy, level="warning")
