"""Collects what is wrong with one file, so that a user hears of everything at once."""

from collections.abc import Iterator
from typing import Any

from treblehook.contracts.vera.json_text import shown
from treblehook.host.problems import Problem


class Findings:
    """The problems of `file`, in the order in which they were found."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def add(self, place: str, message: str, remedy: str = "") -> None:
        """Note a problem at `place`, such as `hooks[2].phase`."""
        self.problems.append(Problem(self.file, place, message, remedy))

    def field(self, place: str, entry: dict[str, Any], key: str, allowed: str, remedy: str = "") -> None:
        """Note that a field of `entry`, which is at `place`, is missing or is not what is allowed; "" is the whole file."""
        found = f"found {shown(entry[key])}" if key in entry else "is missing"
        self.add(f"{place}.{key}" if place else key, f"{found}; it must be {allowed}", remedy)

    def objects(self, key: str, entries: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """The entries of the list `key` that are objects, with their places; notes what else is there."""
        if not isinstance(entries, list):
            self.add(key, f"found {shown(entries)}; it must be an array", "leave the key out to have none")
            return
        for index, entry in enumerate(entries):
            if isinstance(entry, dict):
                yield f"{key}[{index}]", entry
            else:
                self.add(f"{key}[{index}]", f"found {shown(entry)}; it must be an object")
