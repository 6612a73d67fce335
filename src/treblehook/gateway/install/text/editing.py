"""Putting values into a JSON text and taking them out again, so that taking out what was put in leaves the text as it was."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from treblehook.gateway.install.text.reading import Document, Node, Span

_UNIT = "  "


def rendered(value: Any, unit: str | None, indent: str = "", newline: str = "\n") -> str:
    """A value as text, over several lines that begin with `indent`; on one line where `unit` is None."""
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    return text.replace("\n", newline + indent)


def spliced(text: str, span: Span, new: str) -> str:
    """The text with another one in the place of a part."""
    return text[: span.start] + new + text[span.end :]


def appended(document: Document, container: Node, values: Sequence[Any] | dict[str, Any]) -> str:
    """The text with values at the end of a list, or with members at the end of an object."""
    style = _Style(document, container)
    texts = style.members(values)
    if not container.parts:
        return spliced(document.text, container.span, style.filled(texts))
    last = container.parts[-1].span.end
    behind = _behind_notes(document, last)
    added = "".join(f"{',' if at else ''}{style.gap}{text}" for at, text in enumerate(texts))
    return document.text[:last] + "," + document.text[last:behind] + added + document.text[behind:]


def replaced(document: Document, node: Node, value: Any) -> str:
    """The text with another value in the place of one."""
    unit = _unit(document) if has_lines(document) else None
    indent = _indent(document.text, node.span.start)
    return spliced(document.text, node.span, rendered(value, unit, indent, _newline(document.text)))


def removed(document: Document, container: Node, indexes: Collection[int]) -> str:
    """The text without some parts of a container, and without the commas and the space that belong to them."""
    text, ends = document.text, [part.span.end for part in container.parts]
    last_kept = max((index for index in range(len(ends)) if index not in indexes), default=-1)
    cuts: list[Span] = []
    for index in indexes:
        begin, end = container.begins[index], ends[index]
        if index < last_kept:
            comma = _comma(document, end)
            cuts += [Span(begin, end), Span(comma, _space_behind(text, comma + 1))]
        else:
            cuts.append(_with_space(document, begin, end))
            if index > 0:
                comma = _comma(document, ends[index - 1])
                cuts.append(Span(comma, comma + 1))
    for cut in sorted(cuts, key=lambda span: span.start, reverse=True):
        text = spliced(text, cut, "")
    return text


def _with_space(document: Document, begin: int, end: int) -> Span:
    """A part and the space before it, unless what follows would come to stand in a comment that ends with its line."""
    text, start = document.text, _space_before(document.text, begin)
    noted = any(note.end == start and text.startswith("//", note.start) for note in document.comments)
    return Span(begin if noted and text[end : end + 1] not in ("\n", "\r") else start, end)


class _Style:
    """How new parts of a container are written: `gap` stands before each."""

    def __init__(self, document: Document, container: Node) -> None:
        text = document.text
        self._kind = container.kind
        self._newline = _newline(text)
        self._indent = _indent(text, container.span.start)
        self._unit = _unit(document)
        self._notes = [text[note.start : note.end] for note in document.comments_in(container.span)]
        if container.parts:
            begin, end = container.begins[-1], container.parts[-1].span.end
            own_line = "\n" in text[_space_before(text, begin) : begin] or _behind_notes(document, end) != end
            self._lines = own_line or "\n" in text[begin:end]
            self._inner = _indent(text, begin)
        else:
            own_line = self._lines = bool(self._notes) or has_lines(document)
            self._inner = self._indent + self._unit
        self.gap = self._newline + self._inner if own_line else " "

    def members(self, values: Sequence[Any] | dict[str, Any]) -> list[str]:
        unit = self._unit if self._lines else None
        if isinstance(values, dict):
            return [f"{json.dumps(key)}: {rendered(value, unit, self._inner, self._newline)}" for key, value in values.items()]
        return [rendered(value, unit, self._inner, self._newline) for value in values]

    def filled(self, texts: Sequence[str]) -> str:
        """What an empty container becomes; comments in it stay in front."""
        opening, closing = "{}" if self._kind == "object" else "[]"
        inside = "".join(self.gap + note for note in self._notes) + self.gap + ("," + self.gap).join(texts)
        return opening + (inside + self._newline + self._indent if self._lines else inside.strip()) + closing


def has_lines(document: Document) -> bool:
    """Whether it is written over several lines, as it is where there is nothing in it yet."""
    return "\n" in document.text.strip() or not document.root.parts


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, at: int) -> str:
    """The space with which the line of a position begins."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(document: Document) -> str:
    """What one level more is indented by."""
    indents = (_indent(document.text, begin) for begin in document.root.begins)
    return next(filter(None, indents), _UNIT)


def _space_before(text: str, at: int) -> int:
    return len(text[:at].rstrip(" \t\r\n"))


def _space_behind(text: str, at: int) -> int:
    return len(text) - len(text[at:].lstrip(" \t\r\n"))


def _behind_notes(document: Document, at: int) -> int:
    """The end of the comments that follow on the same line and end on it, else `at`."""
    end = at
    for note in document.comments:
        if note.start >= end and not document.text[end : note.start].strip(" \t") and "\n" not in document.text[note.start : note.end]:
            end = note.end
    return end


def _comma(document: Document, at: int) -> int:
    """The place of the next comma that is in no comment."""
    found = document.text.index(",", at)
    inside = next((note for note in document.comments if note.start <= found < note.end), None)
    return found if inside is None else _comma(document, inside.end)
