"""The glob of a permission rule: `*` is any text, `?` one character; both match `/`, blanks and line ends too.

These are not the patterns of hooks, in which a `*` ends at a slash: a denial that a slash could slip through would be a hole.
"""

import re

from treblehook.shell.bash.word import UNSEEN

# Where a word may begin and end in a text that could not be taken apart.
_BEGIN = r"(?<![\w.+-])"
_END = r"(?![\w.+-])"


class Pattern:
    """A glob on a text. Matching takes time linear in the text, whatever the pattern."""

    __slots__ = ("_part", "_strict", "_whole", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._whole = re.compile(_whole(text, "."), re.DOTALL)
        # What a shell replaces is not one character.
        self._strict = re.compile(_whole(text, r"[^\s$*?\[\]{}~`\"'\\]"), re.DOTALL)
        self._part = re.compile(_part(text), re.DOTALL)

    def covers(self, text: str) -> bool:
        """Whether the pattern is the whole text."""
        return self._whole.match(text) is not None

    def covers_command(self, text: str) -> bool:
        """Like `covers`, but `?` stands for no character that a shell would replace."""
        return self._strict.match(text) is not None

    def within(self, text: str) -> bool:
        """Whether the pattern is a part of the text that begins and ends where a word may."""
        return self._part.match(text) is not None

    def may_cover(self, text: str) -> bool:
        """Whether the pattern is the whole text for some content of its `UNSEEN` parts."""
        pattern, end = self.text, len(self.text)
        states = _past_stars(pattern, {0})
        for character in text:
            if not states:
                return False
            if character == UNSEEN:
                states = set(range(min(states), end + 1))
                continue
            stay = {state for state in states if state < end and pattern[state] == "*"}
            step = {state + 1 for state in states if state < end and pattern[state] in ("?", character) and state not in stay}
            states = _past_stars(pattern, stay | step)
        return end in states


def _past_stars(pattern: str, states: set[int]) -> set[int]:
    """The places in the pattern that are reached from `states` without a character."""
    reached = set(states)
    for state in states:
        place = state
        while place < len(pattern) and pattern[place] == "*":
            place += 1
            reached.add(place)
    return reached


def _segments(text: str, one: str) -> list[str]:
    return ["".join(one if character == "?" else re.escape(character) for character in part) for part in text.split("*")]


def _whole(text: str, one: str) -> str:
    first, *rest = _segments(text, one)
    if not rest:
        return rf"{first}\Z"
    *middle, last = rest
    # The leftmost place of each segment is as good as any, so nothing is ever tried again.
    return first + "".join(f"(?>.*?{segment})" for segment in middle) + rf".*{last}\Z"


def _part(text: str) -> str:
    first, *rest = _segments(text, ".")
    begin = rf"(?>.*?{_BEGIN}{first}{'' if rest else _END})" if first else ""
    if not rest:
        return begin
    *middle, last = rest
    return begin + "".join(f"(?>.*?{segment})" for segment in middle) + (rf".*?{last}{_END}" if last else "")
