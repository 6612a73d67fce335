"""The permission rules of a home: `TOOL`, or `TOOL(glob on its main argument)`; deny beats ask beats allow.

Rules are not a sandbox. They look at what a call says, not at what it does: a script that is allowed may do all that a user may,
and a denied program can be reached under another name. They keep an honest model on its path and a person in the loop.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from treblehook.agent.permissions.argument import Argument, plain_argument
from treblehook.agent.permissions.commands import read_command
from treblehook.agent.permissions.pattern import Pattern
from treblehook.host.permission import Verdict
from treblehook.host.problems import ConfigInvalid, Problem

Kind = Literal["allow", "ask", "deny"]

SHELL_TOOL: Final = "bash"
_RULE = re.compile(r"(?P<tool>[\w.*?:/-]+)(?:\((?P<argument>.+)\))?", re.DOTALL)
_ALLOWED = "a tool's name, which may be a glob, or TOOL(glob on its main argument)"


class Rule:
    """One rule; `text` is as the user wrote it. Raises `ValueError` for a text that is no rule.

    The case of a tool's name does not count: a denial of `Bash` that held for nothing would be worse than one of both.
    `argument` is None for a rule that speaks of every call of the tool.
    """

    __slots__ = ("_tool", "argument", "text")

    def __init__(self, text: str) -> None:
        parts = _RULE.fullmatch(text.strip())
        if parts is None:
            raise ValueError(text)
        argument = parts["argument"]
        self.text = text
        self.argument = Pattern(argument) if argument and argument.strip("*") else None
        self._tool = Pattern(parts["tool"].lower())

    def names(self, tool: str) -> bool:
        """Whether the rule is about this tool."""
        return self._tool.covers(tool.lower())

    def holds(self, argument: Argument | None) -> bool:
        """Whether a deny or ask rule about the tool holds for this call."""
        if self.argument is None:
            return True
        if argument is None:
            return False
        return any(map(self.argument.covers, argument.forms)) or any(map(self.argument.within, argument.loose))

    def may_hold(self, argument: Argument) -> bool:
        """Whether a deny or ask rule that does not hold might, if more of the call could be seen."""
        return self.argument is not None and any(map(self.argument.may_cover, argument.unseen))

    def covers(self, part: Sequence[str], *, command: bool) -> bool:
        """Whether an allow rule covers one part of a main argument."""
        if self.argument is None:
            return True
        return any(map(self.argument.covers_command if command else self.argument.covers, part))


class Rules:
    """What a home allows, asks and denies. Without rules every tool that asks is asked about."""

    def __init__(self, *, allow: Sequence[Rule] = (), ask: Sequence[Rule] = (), deny: Sequence[Rule] = ()) -> None:
        self._allow = tuple(allow)
        self._ask = tuple(ask)
        self._deny = tuple(deny)

    @classmethod
    def parse(cls, allow: Sequence[object], ask: Sequence[object], deny: Sequence[object], file: str) -> "Rules":
        """The rules of `[permissions]` in `file`. Raises `ConfigInvalid` with a problem for each entry that is no rule."""
        problems: list[Problem] = []
        rules = cls(
            allow=list(_parsed("allow", allow, file, problems)),
            ask=list(_parsed("ask", ask, file, problems)),
            deny=list(_parsed("deny", deny, file, problems)),
        )
        if problems:
            raise ConfigInvalid(problems)
        return rules

    @property
    def guards(self) -> bool:
        """Whether there is a rule that denies or asks, so that no call may run without it."""
        return bool(self._deny or self._ask)

    def look_into(self, name: str) -> bool:
        """Whether a rule about the tool `name` asks for more than its name."""
        return any(rule.argument is not None and rule.names(name) for rule in (*self._deny, *self._ask, *self._allow))

    def allowing_by(self, speaks: Callable[[str], bool]) -> "Rules":
        """These rules without the allowances whose glob `speaks` does not hold for, and without those that have none."""
        allow = [rule for rule in self._allow if rule.argument is not None and speaks(rule.argument.text)]
        return Rules(allow=allow, ask=self._ask, deny=self._deny)

    def verdict(self, name: str, main_argument: str | None, asks: bool, *, argument: Argument | None = None) -> Verdict:
        """What the rules say of a call of the tool `name`, and which one says it.

        Where none speaks, a tool that `asks` is asked about and another is allowed. `argument` is the main argument read by
        someone who knows more of it (a path and its workspace); otherwise it is a command for `bash`, and plain text.

        A deny or ask rule holds for a command if it covers the whole text or any command in it, without its quotes, folder and
        wrappers too; one that ends in ` *` also covers the bare name. Where it might hold, but part of the command cannot be
        seen, the call is asked about, whatever is allowed.

        An allow rule with a pattern holds for a command if each simple command in it is covered by some allow rule. It never
        holds for what cannot be seen through: substitutions, `eval`, `sh -c`, input fed to a shell, assignments in front of a
        command, redirections from and to files (but /dev/null), a variable as the command's name.
        """
        if argument is None and main_argument is not None:
            argument = read_command(main_argument) if name == SHELL_TOOL else plain_argument(main_argument)
        restricting: tuple[tuple[Kind, tuple[Rule, ...]], ...] = (
            ("deny", tuple(rule for rule in self._deny if rule.names(name))),
            ("ask", tuple(rule for rule in self._ask if rule.names(name))),
        )
        for kind, rules in restricting:
            for rule in rules:
                if rule.holds(argument):
                    return Verdict(kind, rule.text)
        if argument is not None and argument.unseen:
            for _, rules in restricting:
                for rule in rules:
                    if rule.may_hold(argument):
                        return Verdict("ask", rule.text)
        allowing = self._allowing(name, argument)
        if allowing is not None:
            return Verdict("allow", allowing)
        return Verdict("ask" if asks else "allow")

    def _allowing(self, name: str, argument: Argument | None) -> str | None:
        """The allow rules that together cover a call, or None."""
        rules = [rule for rule in self._allow if rule.names(name)]
        for rule in rules:
            if rule.argument is None:
                return rule.text
        if argument is None or not argument.parts:
            return None
        used: dict[str, None] = {}
        for part in argument.parts:
            rule_text = next((rule.text for rule in rules if rule.covers(part, command=argument.command)), None)
            if rule_text is None:
                return None
            used[rule_text] = None
        return ", ".join(used)


def _parsed(kind: Kind, entries: Sequence[object], file: str, problems: list[Problem]) -> Iterator[Rule]:
    for index, entry in enumerate(entries):
        try:
            if not isinstance(entry, str):
                raise ValueError(entry)
            yield Rule(entry)
        except ValueError:
            problems.append(Problem(file, f"permissions.{kind}[{index}]", f"{entry!r} is no rule", f"allowed: {_ALLOWED}"))
