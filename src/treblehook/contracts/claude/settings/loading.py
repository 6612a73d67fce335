"""Reading one settings file: strict JSON, of which only what concerns hooks is looked at."""

import difflib
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from treblehook.contracts.claude.settings.entries import CommandLine, Endpoint, SettingsFile, SettingsHook
from treblehook.contracts.claude.settings.events import EVENTS, SettingsEvent
from treblehook.contracts.claude.settings.lines import object_lines
from treblehook.contracts.claude.settings.matching import Condition, Matcher, condition
from treblehook.contracts.vera.json_text import NotJson, parsed, shown
from treblehook.host.problems import Problem

KEYS: Final = ("hooks", "disableAllHooks", "allowedHttpHookUrls", "httpHookAllowedEnvVars")
"""All that is read of a file; nothing else in it decides what runs."""
_OTHER_TYPES: Final = ("prompt", "agent", "mcp_tool")
_ENV_FILE: Final = "CLAUDE_ENV_FILE"
_LEFT_OUT: Final = "until then it is left out"


def read_settings_file(file: str, content: bytes) -> SettingsFile:
    """What `content`, which stands in `file`, says. A file that is not strict JSON has no hooks, as in Claude Code; that is a problem."""
    try:
        text = content.decode()
        settings = parsed(text, finite=False)
    except UnicodeDecodeError as error:
        return SettingsFile(file, problems=(Problem(file, "", f"byte {error.start} is not UTF-8: it has no hooks now"),))
    except NotJson as error:
        place = "" if error.line is None else f"line {error.line}, column {error.column}"
        message = f"is not JSON, so it has no hooks now: {error.message}"
        return SettingsFile(file, problems=(Problem(file, place, message, "comments and trailing commas are not allowed"),))
    if not isinstance(settings, dict):
        return SettingsFile(file, problems=(Problem(file, "", f"is {shown(settings)}; it must be an object"),))
    return _Reading(file, object_lines(text)).settings(settings)


class _Reading:
    """What has been found so far in one file."""

    def __init__(self, file: str, lines: dict[str, int]) -> None:
        self._file = file
        self._lines = lines
        self._problems: list[Problem] = []

    def settings(self, top: dict[str, Any]) -> SettingsFile:
        hooks = tuple(self._hooks(top.get("hooks", {})))
        disabled = top.get("disableAllHooks")
        if disabled is not None and not isinstance(disabled, bool):
            self._wrong("disableAllHooks", disabled, "true or false")
            disabled = None
        self._plugins(top.get("enabledPlugins"))
        if hooks and isinstance(top.get("env"), dict) and top["env"]:
            self._warn("env", f"not set for hooks here: {', '.join(top['env'])}", "set them where treblehook is started, or in the command")
        urls, variables = self._texts(top, "allowedHttpHookUrls"), self._texts(top, "httpHookAllowedEnvVars")
        return SettingsFile(self._file, hooks, disabled, urls, variables, tuple(self._problems))

    def _plugins(self, enabled: Any) -> None:
        names = [name for name, on in enabled.items() if on] if isinstance(enabled, dict) else []
        if names:
            message = f"hooks that plugins bring are not run here: {', '.join(names)}"
            self._warn("enabledPlugins", message, "put those that you need under hooks")

    def _hooks(self, events: Any) -> Iterator[SettingsHook]:
        if not isinstance(events, dict):
            self._wrong("hooks", events, "an object with a list for each event")
            return
        for name, groups in events.items():
            place = f"hooks.{name}"
            event = EVENTS.get(name)
            if event is None:
                close = difflib.get_close_matches(name, EVENTS, n=1)
                remedy = f"did you mean {close[0]}?" if close else f"known here: {', '.join(EVENTS)}"
                self._warn(place, "this event is not known here: its hooks are left out", remedy)
                continue
            for at, group in self._objects(place, groups):
                yield from self._group(at, group, event)

    def _group(self, place: str, group: dict[str, Any], event: SettingsEvent) -> Iterator[SettingsHook]:
        text = group.get("matcher", "")
        if not isinstance(text, str):
            self._wrong(f"{place}.matcher", text, "a text")
            return
        try:
            matcher = Matcher(text)
        except ValueError as error:
            self._problems.append(Problem(self._file, f"{place}.matcher", f"{shown(text)} {error}", "its hooks are left out"))
            return
        if event.words is None and text not in ("", "*"):
            self._warn(f"{place}.matcher", f"{event.name} has no matcher: these hooks run every time", "take it out")
            matcher = Matcher("")
        for at, entry in self._objects(f"{place}.hooks", group.get("hooks")):
            hook = self._hook(at, entry, event, matcher)
            if hook is not None:
                yield hook

    def _hook(self, place: str, entry: dict[str, Any], event: SettingsEvent, matcher: Matcher) -> SettingsHook | None:
        try:
            how = self._how(place, entry, event)
            only_if = self._condition(place, entry, event)
            seconds = self._seconds(place, entry, event)
        except _LeftOut as left_out:
            self._problems.append(left_out.problem)
            return None
        return SettingsHook(self._file, place, self._lines.get(place, 1), event, matcher, only_if, seconds, how)

    def _how(self, place: str, entry: dict[str, Any], event: SettingsEvent) -> CommandLine | Endpoint:
        kind = entry.get("type")
        if kind == "command":
            return self._command(place, entry)
        if kind == "http":
            return self._endpoint(place, entry, event)
        if kind in _OTHER_TYPES:
            raise self._not_here(f"{place}.type", f"hooks of type {kind} are not run here")
        raise self._malformed(f"{place}.type", kind, "command or http")

    def _command(self, place: str, entry: dict[str, Any]) -> CommandLine:
        for key, plain in (("args", None), ("shell", "bash")):
            if entry.get(key, plain) != plain:
                raise self._not_here(f"{place}.{key}", f"found {shown(entry[key])}; a command is a line for sh here")
        line = entry.get("command")
        if not isinstance(line, str) or not line.strip() or "\0" in line:
            raise self._malformed(f"{place}.command", line, "a command line")
        if _ENV_FILE in line:
            message = f"there is no {_ENV_FILE} here: what is written into it reaches no command"
            self._warn(f"{place}.command", message, "tool:before_execute in Lua can set variables")
        if entry.get("asyncRewake") is True:
            self._warn(f"{place}.asyncRewake", "it runs in the background, and nobody is woken by it", "use async")
        return CommandLine(line, entry.get("async") is True or entry.get("asyncRewake") is True)

    def _endpoint(self, place: str, entry: dict[str, Any], event: SettingsEvent) -> Endpoint:
        if event.name == "SessionStart":
            raise self._not_here(f"{place}.type", "SessionStart does not come over HTTP, in Claude Code as here")
        url, headers = entry.get("url"), entry.get("headers", {})
        if not isinstance(url, str) or not re.match(r"https?://[^/]", url):
            raise self._malformed(f"{place}.url", url, "an address that begins with http:// or https://")
        if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
            raise self._malformed(f"{place}.headers", headers, "an object of texts")
        return Endpoint(url, headers, frozenset(self._texts(entry, "allowedEnvVars", place) or ()))

    def _condition(self, place: str, entry: dict[str, Any], event: SettingsEvent) -> Condition | None:
        text = entry.get("if")
        if text is None:
            return None
        if not event.of_tools:
            raise self._not_here(f"{place}.if", f"{event.name} is about no tool, and a hook with `if` never runs there")
        if not isinstance(text, str):
            raise self._malformed(f"{place}.if", text, "a permission rule such as Bash(git *)")
        try:
            return condition(text)
        except ValueError as error:
            raise self._not_here(f"{place}.if", f"{shown(text)} {error}: it never holds") from error

    def _seconds(self, place: str, entry: dict[str, Any], event: SettingsEvent) -> float:
        found = entry.get("timeout", event.seconds)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < math.inf:
            raise self._malformed(f"{place}.timeout", found, "a number of seconds above 0")
        return float(found if event.most is None else min(found, event.most))

    def _objects(self, place: str, entries: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        if not isinstance(entries, list):
            self._wrong(place, entries, "a list")
            return
        for index, entry in enumerate(entries):
            if isinstance(entry, dict):
                yield f"{place}[{index}]", entry
            else:
                self._wrong(f"{place}[{index}]", entry, "an object")

    def _texts(self, entry: dict[str, Any], key: str, place: str = "") -> tuple[str, ...] | None:
        found = entry.get(key)
        if found is None:
            return None
        if isinstance(found, list) and all(isinstance(text, str) for text in found):
            return tuple(found)
        self._wrong(f"{place}.{key}" if place else key, found, "a list of texts")
        # What was meant to narrow narrows to nothing.
        return ()

    def _wrong(self, place: str, found: Any, allowed: str) -> None:
        self._problems.append(self._malformed(place, found, allowed).problem)

    def _warn(self, place: str, message: str, remedy: str) -> None:
        self._problems.append(Problem(self._file, place, message, remedy, "warning"))

    def _malformed(self, place: str, found: Any, allowed: str) -> "_LeftOut":
        what = "is missing" if found is None else f"found {shown(found)}"
        return _LeftOut(Problem(self._file, place, f"{what}; it must be {allowed}", _LEFT_OUT))

    def _not_here(self, place: str, message: str) -> "_LeftOut":
        return _LeftOut(Problem(self._file, place, message, _LEFT_OUT, "warning"))


class _LeftOut(Exception):
    """A part of the file is not used; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem
