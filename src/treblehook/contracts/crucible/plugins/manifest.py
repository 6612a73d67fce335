"""`plugin.yaml`: what a plugin says of itself (crucible.md 10.3)."""

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from treblehook.contracts.crucible.plugins.source import SourceUnreadable, read_bytes
from treblehook.host.problems import ConfigInvalid, Problem

FILE: Final = "plugin.yaml"
_MOST_BYTES: Final = 64 * 1024
_TEXTS: Final = ("name", "version", "description", "author", "license", "homepage")
_KEYS: Final = (*_TEXTS, "intercept_tools")


class Manifest(Struct, frozen=True):
    """A manifest that holds; "" for what it leaves out. `warnings` are findings that stop nothing."""

    name: str = ""
    version: str = ""
    description: str = ""
    author: str = ""
    license: str = ""
    homepage: str = ""
    warnings: tuple[Problem, ...] = ()


def read_manifest(folder: Path, plugin: str) -> Manifest:
    """The manifest of the plugin in `folder`; without a file it says nothing. Raises `ConfigInvalid` with everything that is wrong."""
    path = folder / FILE
    # A link that leads nowhere is a manifest that is missing, and told as such.
    if not os.path.lexists(path):
        return Manifest()
    content = _content(path)
    problems = [*_wrong(content, str(path)), *_odd(content, str(path), plugin)]
    if any(problem.level == "error" for problem in problems):
        raise ConfigInvalid(problems)
    return Manifest(**{key: content[key] for key in _TEXTS if key in content}, warnings=tuple(problems))


def _content(path: Path) -> dict[Any, Any]:
    # Only a plugin with a manifest needs a YAML reader.
    import yaml

    place = ""
    try:
        content = yaml.safe_load(read_bytes(path, _MOST_BYTES))
    except SourceUnreadable as unreadable:
        problem = unreadable.why
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        problem = f"no YAML: {' '.join(filter(None, (getattr(error, 'context', None), getattr(error, 'problem', None)))) or error}"
    except (RecursionError, ValueError) as error:
        # A date such as 2026-13-45 is a ValueError.
        problem = "nested too deeply" if isinstance(error, RecursionError) else f"no YAML: {error}"
    else:
        if content is None:
            return {}
        if isinstance(content, dict):
            return content
        problem = f"found {_shown(content)}; it must be a table of keys"
    raise ConfigInvalid([Problem(str(path), place, problem)])


def _wrong(content: dict[Any, Any], file: str) -> Iterator[Problem]:
    for key in _TEXTS:
        value = content.get(key, "")
        if not isinstance(value, str):
            yield Problem(file, key, f"found {_shown(value)}", 'allowed: a text; a number is one in quotes, as in version: "1.0"')
    flag = content.get("intercept_tools", True)
    if not isinstance(flag, bool):
        yield Problem(file, "intercept_tools", f"found {_shown(flag)}", "allowed: true, false")
    elif not flag:
        # crucible.md D14
        yield Problem(file, "intercept_tools", "has no effect: every plugin may answer `handled` and `args`", level="warning")


def _odd(content: dict[Any, Any], file: str, plugin: str) -> Iterator[Problem]:
    for key in content:
        if key not in _KEYS:
            near = get_close_matches(str(key), _KEYS, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"known: {', '.join(_KEYS)}"
            yield Problem(file, str(key), "unknown key, not used", remedy, level="warning")
    name = content.get("name", plugin)
    if isinstance(name, str) and name != plugin:
        what = f"found {name!r}, but the plugin is {plugin!r}, after its folder"
        yield Problem(file, "name", what, "rename one of them; configuration and reload go by the folder", level="warning")


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
