"""Whether an agent loads our code: the code leaves a mark each time, since OpenCode passes over a plugin that fails without a word."""

from datetime import datetime
from pathlib import Path

from treblehook.home.health.finding import Finding


def mark_of(home: Path, agent: str) -> Path:
    """The file that our code writes when `agent` loads it; its time says when."""
    return home / "gateway" / f"loaded-{agent}"


def examine_loading(agent: str, home: Path, file: Path) -> Finding:
    """Whether `agent` has loaded `file` as it is now."""
    what, mark = f"{agent} loading", mark_of(home, agent)
    try:
        loaded = mark.stat().st_mtime
        written = file.stat().st_mtime
    except OSError:
        return Finding(what, "warning", f"{agent} has never loaded {file}", _remedy(agent))
    when = datetime.fromtimestamp(loaded).isoformat(" ", "minutes")
    if loaded < written:
        return Finding(what, "warning", f"{file} was written anew after {agent} loaded it last ({when})", _remedy(agent))
    return Finding(what, "ok", f"loaded {when}")


def _remedy(agent: str) -> str:
    return f"start {agent} once and ask again: code that cannot be loaded guards nothing"
