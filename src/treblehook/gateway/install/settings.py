"""Our entries in an agent's settings: put in, renewed where they stand, and taken out. Text in, text out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from treblehook.gateway.install.entries import is_own
from treblehook.gateway.install.owned import Owned
from treblehook.gateway.install.places import Dialect
from treblehook.gateway.install.text.editing import appended, removed, rendered, replaced, spliced
from treblehook.gateway.install.text.reading import Document, JsonInvalid, Node, read
from treblehook.host.problems import ConfigInvalid, Problem

Before = Mapping[str, str | None]
"""What was in the place of the containers that have been made or filled: by "" for the whole file, `hooks`, or the name of an event; its
text, None for nothing."""


class Edited(Struct, frozen=True):
    """The new text of a file, None where there is to be none, and what restores the old one."""

    text: str | None
    before: dict[str, str | None]


class Settings(Struct, frozen=True):
    """The settings of an agent, which stand in `file`. Every method raises `ConfigInvalid` where that is not as the agent reads it."""

    agent: str
    file: str
    dialect: Dialect

    def put_in(self, text: str | None, entries: Mapping[str, Any], before: Before) -> Edited:
        """The text with an entry at the end of each event's list and with none of ours elsewhere. An entry of ours that is there already
        is renewed in its place. `before` is what an earlier installation has left."""
        known = {**before, **self.found_in(text, entries)}
        known = {key: was for key, was in known.items() if was is not None or not key}
        if text is None or not text.strip():
            whole = {**self.dialect.skeleton, "hooks": {event: [entry] for event, entry in entries.items()}}
            return Edited(rendered(whole, "  ") + "\n", known)
        document = self.read(text)
        self._check(document, entries)
        if document.root.get("hooks") is None:
            added = {"hooks": {event: [entry] for event, entry in entries.items()}}
            return Edited(appended(document, document.root, added), known)
        for event, entry in entries.items():
            document = self._with(document, event, entry)
        stale = [event for event in self._owned.events(document) if event not in entries]
        return Edited(self._without(document, stale, known).text, known)

    def found_in(self, text: str | None, events: Iterable[str]) -> dict[str, str | None]:
        """What is in the place of the containers that an installation of `events` would make or fill."""
        nothing = dict.fromkeys(("hooks", *events))
        if text is None or not text.strip():
            return {**nothing, "": text}
        document = self.read(text)
        hooks = document.root.get("hooks")
        if hooks is None:
            return {**nothing, **({} if document.root.parts else {"": text})}
        found: dict[str, str | None] = {} if hooks.parts else {"hooks": _text(document, hooks)}
        for event in events:
            listed = hooks.get(event)
            if listed is None:
                found[event] = None
            elif not listed.parts:
                found[event] = _text(document, listed)
        return found

    def taken_out(self, text: str, before: Before) -> Edited:
        """The text without our entries; what is empty without them is as it was before."""
        document = self.read(text)
        left = self._without(document, self._owned.events(document), before)
        bare = left.root.plain() in ({}, dict(self.dialect.skeleton))
        if left.text != text and bare and "" in before and _notes(left, left.root) == self._notes_of(before[""]):
            return Edited(before[""], {})
        return Edited(left.text, {})

    def own(self, text: str) -> dict[str, list[tuple[int, int, Any]]]:
        """Our handlers by event, each with the place of its entry and its place in that."""
        document = self.read(text)
        return {event: self._owned.handlers(document, event) for event in self._owned.events(document)}

    def read(self, text: str) -> Document:
        """The settings, which are an object."""
        try:
            document = read(text, comments=self.dialect.comments, marked=self.dialect.marked)
        except JsonInvalid as invalid:
            allowed = f"allowed: {invalid.allowed}; {self.agent} cannot read the file as it is"
            raise self._invalid(f"line {invalid.line}, column {invalid.column}", f"found {invalid.found}", allowed) from invalid
        if document.root.kind != "object":
            raise self._invalid(document.place(document.root.span.start), f"found {_kind(document.root)}", "allowed: an object")
        return document

    @property
    def _owned(self) -> Owned:
        return Owned(self.agent, self.dialect)

    def _with(self, document: Document, event: str, entry: Any) -> Document:
        hooks = _at(document, "hooks")
        listed = hooks.get(event)
        if listed is None:
            return self.read(appended(document, hooks, {event: [entry]}))
        whole = self._owned.whole(document, event)
        if whole and listed.parts[whole[0]].plain() != entry:
            document = self.read(replaced(document, listed.parts[whole[0]], entry))
        while surplus := self._owned.surplus(document, event, keep_first=True):
            document = self.read(removed(document, *surplus))
        return document if whole else self.read(appended(document, _at(document, "hooks", event), [entry]))

    def _without(self, document: Document, events: Iterable[str], before: Before) -> Document:
        """The document without our entries at `events`, and without what is empty then and was not there."""
        touched = False
        for event in events:
            touched = True
            while surplus := self._owned.surplus(document, event):
                document = self.read(removed(document, *surplus))
            document = self._emptied(document, _at(document, "hooks"), event, before.get(event))
        return self._emptied(document, document.root, "hooks", before.get("hooks")) if touched else document

    def _emptied(self, document: Document, container: Node, key: str, was: str | None) -> Document:
        """The document with what was under a key, if there is nothing now but what was noted there then."""
        node = container.get(key)
        if node is None or node.parts or _notes(document, node) != self._notes_of(was):
            return document
        if was is None:
            return self.read(removed(document, container, [container.keys.index(key)]))
        return self.read(spliced(document.text, node.span, was))

    def _notes_of(self, text: str | None) -> list[str]:
        if text is None or not text.strip():
            return []
        document = read(text, comments=self.dialect.comments, marked=self.dialect.marked)
        return _notes(document, document.root)

    def _check(self, document: Document, entries: Mapping[str, Any]) -> None:
        root, allowed = document.root, self.dialect.only
        for key, at in zip(root.keys, root.begins, strict=True):
            if allowed and key not in allowed:
                raise self._invalid(
                    document.place(at), f"found the key {key!r}", f"{self.agent} drops the file unless all are: {', '.join(allowed)}"
                )
        self._check_unique(document, root, "", ("hooks",))
        hooks = root.get("hooks")
        if hooks is None:
            return
        if hooks.kind != "object":
            raise self._invalid(document.place(hooks.span.start), f"found hooks, which is {_kind(hooks)}", "allowed: an object")
        self._check_unique(document, hooks, "hooks.", entries)
        for event, listed in zip(hooks.keys, hooks.parts, strict=True):
            if event in entries and listed.kind != "list":
                raise self._invalid(document.place(listed.span.start), f"found hooks.{event}, which is {_kind(listed)}", "allowed: a list")
        if self.dialect.only:
            self._check_types(document, hooks)

    def _check_unique(self, document: Document, node: Node, path: str, keys: Iterable[str]) -> None:
        counts = Counter(node.keys)
        for key in keys:
            if counts[key] > 1:
                at = node.begins[len(node.keys) - 1 - node.keys[::-1].index(key)]
                raise self._invalid(document.place(at), f"found {path}{key} once more", "allowed: one; the agent reads the last")

    def _check_types(self, document: Document, hooks: Node) -> None:
        groups = [group for listed in hooks.parts for group in listed.parts]
        for handler in (handler for group in groups if (handlers := group.get("hooks")) for handler in handlers.parts):
            kind = handler.get("type")
            if kind is not None and kind.value == "http" and not is_own(handler.plain(), self.agent):
                raise self._invalid(
                    document.place(kind.span.start), "found a handler of type http", f"{self.agent} drops the whole file for it"
                )

    def _invalid(self, place: str, message: str, remedy: str) -> ConfigInvalid:
        return ConfigInvalid([Problem(self.file, place, message, remedy)])


def _kind(node: Node) -> str:
    return "an object" if node.kind == "object" else f"a {node.kind}"


def _at(document: Document, *keys: str) -> Node:
    node: Node | None = document.root
    for key in keys:
        node = None if node is None else node.get(key)
    assert node is not None
    return node


def _text(document: Document, node: Node) -> str:
    return document.text[node.span.start : node.span.end]


def _notes(document: Document, node: Node) -> list[str]:
    """The comments in a container; in the root, those of the whole file."""
    span = node.span
    notes = document.comments if node is document.root else document.comments_in(span)
    return [document.text[note.start : note.end] for note in notes]
