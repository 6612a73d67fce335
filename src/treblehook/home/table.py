"""A table of a TOML or YAML file, read key by key: every finding is kept, with the place it was made in."""

import math
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from treblehook.host.problems import Problem

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_SHOWN = 60


class Table:
    """Reads `values`, which stand at `place` of `file` ("" for the whole file); what is wrong goes to `problems`.

    Each reading method gives None for a key that is missing or wrong. `unknown` reports what nobody read.
    """

    def __init__(self, values: dict[str, Any], file: str, place: str, problems: list[Problem]) -> None:
        self.values = values
        self.file = file
        self.place = place
        self.problems = problems
        self._known: set[str] = set()

    def at(self, key: str, index: int | None = None) -> str:
        """The place of a key, or of an entry of its list."""
        name = key if _BARE_KEY.fullmatch(key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
        place = f"{self.place}.{name}" if self.place else name
        return place if index is None else f"{place}[{index}]"

    def wrong(self, place: str, found: Any, allowed: str) -> None:
        """Report a value."""
        self.problems.append(Problem(self.file, place, f"found {shown(found)}", f"allowed: {allowed}"))

    def text(self, key: str) -> str | None:
        """A text that is not empty."""
        value = self._take(key)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        self.wrong(self.at(key), value, "a text that is not empty")
        return None

    def choice(self, key: str, choices: Sequence[str]) -> str | None:
        """One of a few texts."""
        value = self._take(key)
        if value is None or (isinstance(value, str) and value in choices):
            return value
        self.wrong(self.at(key), value, ", ".join(f'"{choice}"' for choice in choices))
        return None

    def count(self, key: str, unit: str) -> int | None:
        """A whole number from 1."""
        value = self._take(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        self.wrong(self.at(key), value, f"a whole number of {unit}, at least 1")
        return None

    def number(self, key: str, unit: str, least: int, most: int, *, default: int) -> int:
        """A whole number in a range."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.wrong(self.at(key), value, f"a whole number of {unit} from {least} to {most}")
        return default

    def amount(self, key: str, unit: str) -> float | None:
        """A number above 0."""
        value = self._take(key)
        if value is None:
            return None
        if _is_number(value) and 0 < value < math.inf:
            return float(value)
        self.wrong(self.at(key), value, f"a number of {unit} above 0")
        return None

    def part(self, key: str, *, default: float) -> float:
        """A number from 0 to 1."""
        value = self._take(key)
        if value is None:
            return default
        if _is_number(value) and 0 <= value <= 1:
            return float(value)
        self.wrong(self.at(key), value, "a number from 0.0 to 1.0")
        return default

    def switch(self, key: str, *, default: bool) -> bool:
        """`on` or `off`, which YAML also reads as true and false."""
        value = self._take(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        if value in ("on", "off"):
            return bool(value == "on")
        self.wrong(self.at(key), value, "on, off")
        return default

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self._take(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.wrong(self.at(key), value, "true, false")
        return default

    def entries(self, key: str, of: str) -> list[Any]:
        """A list, empty where there is none; its entries are checked by whoever reads them."""
        value = self._take(key)
        if value is None or isinstance(value, list):
            return value or []
        self.wrong(self.at(key), value, f"a list of {of}")
        return []

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, without the entries that are none."""
        texts = []
        for index, entry in enumerate(self.entries(key, "texts")):
            if isinstance(entry, str):
                texts.append(entry)
            else:
                self.wrong(self.at(key, index), entry, "a text")
        return tuple(texts)

    def text_map(self, key: str) -> dict[str, str]:
        """A table of texts, without the entries that are none."""
        table = self.table(key)
        return {name: text for name in table.values if (text := table._text_of(name)) is not None}

    def table(self, key: str) -> "Table":
        """The table under `key`, empty where there is none."""
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            self.wrong(self.at(key), value, "a table")
            value = None
        return Table(value or {}, self.file, self.at(key), self.problems)

    def tables(self) -> dict[str, "Table"]:
        """The tables by which this one names things; its other values are wrong."""
        return {key: self.table(key) for key in self.values if self._is_table(key)}

    def raw_tables(self, key: str) -> tuple[dict[str, Any], ...]:
        """An array of tables (`[[key]]`), as it is."""
        entries = self.entries(key, f"tables ([[{key}]])")
        for index, entry in enumerate(entries):
            if not isinstance(entry, dict):
                self.wrong(self.at(key, index), entry, "a table")
        return tuple(entry for entry in entries if isinstance(entry, dict))

    def raw(self, key: str) -> Any:
        """Whatever there is, None for nothing."""
        return self._take(key)

    def ignore(self, *keys: str) -> None:
        """Keys that are read by nobody here and are right all the same."""
        self._known.update(keys)

    def unknown(self) -> None:
        """Warn of each key that nothing has read."""
        for key in self.values:
            if key in self._known:
                continue
            near = get_close_matches(key, self._known, n=1)
            known = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(self._known))}"
            self.problems.append(Problem(self.file, self.at(key), "unknown key, not used", known, level="warning"))

    def _take(self, key: str) -> Any:
        self._known.add(key)
        return self.values.get(key)

    def _text_of(self, key: str) -> str | None:
        value = self._take(key)
        if isinstance(value, str):
            return value
        self.wrong(self.at(key), value, "a text")
        return None

    def _is_table(self, key: str) -> bool:
        value = self._take(key)
        if isinstance(value, dict):
            return True
        self.wrong(self.at(key), value, "a table")
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value as a user would recognise it, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
