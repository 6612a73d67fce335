"""Installs agents with npm, each into a folder of its own: python -m tests.real_agents.install NAME..."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.real_agents.agents import AGENTS

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".cache" / "agents"


def programs(name: str) -> Path:
    """The folder of an agent's programs."""
    return FOLDER / name / "node_modules" / ".bin"


def installed(name: str) -> bool:
    """Whether an agent's program is there, in whatever version."""
    return (programs(name) / AGENTS[name].program).exists()


def versions(name: str) -> dict[str, str]:
    """The packages of an agent with the versions that package.json pins."""
    pinned: dict[str, str] = json.loads((Path(__file__).parent / "package.json").read_text())["dependencies"]
    return {package: pinned[package] for package in AGENTS[name].packages}


def install(name: str) -> None:
    """Make the folder of an agent anew; raises `subprocess.CalledProcessError` when npm fails."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wanted = [f"{package}@{version}" for package, version in versions(name).items()]
    print(f"installing {' '.join(wanted)}", flush=True)
    subprocess.run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel", "error", *wanted], check=True)


if __name__ == "__main__":
    unknown = sorted(set(sys.argv[1:]) - set(AGENTS))
    if unknown:
        sys.exit(f"no such agent: {', '.join(unknown)}; there are {', '.join(AGENTS)}")
    for each in sys.argv[1:]:
        install(each)
