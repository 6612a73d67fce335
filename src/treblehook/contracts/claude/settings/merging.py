"""The hooks of several settings files together: all run, and what one file forbids holds for all."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from treblehook.contracts.claude.settings.entries import Endpoint, SettingsFile, SettingsHook
from treblehook.host.problems import Problem

NOT_ALLOWED: Final = "its address is not in allowedHttpHookUrls: it is left out"


class Merged(Struct, frozen=True):
    """The hooks that run, in the order of their files, and what is to be said of the files."""

    hooks: tuple[SettingsHook, ...] = ()
    problems: tuple[Problem, ...] = ()


def merged(files: Sequence[SettingsFile]) -> Merged:
    """`files` from the farthest (the user's) to the nearest, whose `disableAllHooks` counts where several have it."""
    problems = [problem for file in files for problem in file.problems]
    switch = next((file for file in reversed(files) if file.disabled is not None), None)
    if switch is not None and switch.disabled:
        return Merged((), (*problems, Problem(switch.file, "disableAllHooks", "no hook of a settings file runs", level="warning")))
    urls = _together([file.urls for file in files])
    variables = _together([file.variables for file in files])
    hooks = []
    for hook in (hook for file in files for hook in file.hooks):
        if isinstance(hook.how, Endpoint):
            if urls is not None and not any(_covers(url, hook.how.url) for url in urls):
                problems.append(Problem(hook.file, f"{hook.place}.url", NOT_ALLOWED, level="warning"))
                continue
            if variables is not None:
                hook = replace(hook, how=replace(hook.how, variables=hook.how.variables.intersection(variables)))
        hooks.append(hook)
    return Merged(tuple(hooks), tuple(problems))


def _together(lists: Sequence[tuple[str, ...] | None]) -> list[str] | None:
    """All entries of the lists that there are; None where there is no list."""
    there = [entries for entries in lists if entries is not None]
    return [entry for entries in there for entry in entries] if there else None


def _covers(pattern: str, url: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url, re.DOTALL) is not None
