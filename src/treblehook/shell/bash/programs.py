"""Which programs and builtins run other commands, and how they are told which."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from treblehook.shell.bash.commands import PREFIXES
from treblehook.shell.bash.word import Word

SHELLS: Final = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "zsh"})
EVALUATORS: Final = frozenset({"alias", "bind", "compgen", "complete", "eval", "hash", "mapfile", "readarray", "trap"})
"""Builtins whose words are read as commands."""
RENAMING: Final = frozenset({"alias", "hash"})
"""Those after which a name may mean another program."""
COMPUTING: Final = frozenset(
    {"[", "declare", "export", "let", "local", "printf", "read", "readonly", "set", "test", "typeset", "unset", "wait"}
)
"""Builtins that may expand a quoted word once more (an array's index)."""
SOURCES: Final = frozenset({".", "source"})
_RUN_THEIR_WORDS = """
    . arch builtin busybox caffeinate chroot chrt command cpulimit doas entr env exec fakeroot firejail flock gtimeout
    hyperfine ionice linux32 linux64 ltrace nice nohup nsenter numactl parallel pkexec prlimit proot proxychains rlwrap
    runuser script setarch setpriv setsid sg source ssh stdbuf strace su sudo systemd-run taskset timeout torsocks toybox unbuffer
    unshare watch xargs xvfb-run
"""
WRAPPERS: Final = PREFIXES.union(_RUN_THEIR_WORDS.split())
"""Programs that run the command in their own words; which of the words begins it depends on their options."""

CONDITIONS: Final = frozenset({"((", "[["})
"""Commands in which bash reads operators as words; another shell begins a command after them."""

# How many words that are no options stand before a wrapper's command, where there are any.
_OPERANDS = dict.fromkeys(("chroot", "chrt", "flock", "gtimeout", "proot", "setarch", "sg", "ssh", "su", "taskset", "timeout"), 1)
_COMMAND_OPTION = re.compile(r"[-+]\w*c\w*")
_OPTION_WITH_VALUE = re.compile(r"[-+]\w*[oO]|--rcfile|--init-file")
_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_ATTACHED = re.compile(r"-\w*[cS].+|--split-string.*|--command=.*|--session-command=.*", re.DOTALL)
_ATTACHING = frozenset({"env", "su", "runuser", "script", "flock"})
_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_XARGS_FLAG = re.compile(r"-[0rtpxo]+|-[adEILnPs].+|-[eil].*|--(?:null|no-run-if-empty|verbose|interactive|exit|open-tty)|--[a-z-]+=.*")
_XARGS_VALUE = re.compile(r"-[0rtpxo]*[adEILnPs]")
_XARGS_REPLACES = re.compile(r"-[0rtpxo]*[Ii](.*)|--replace(?:=(.*))?", re.DOTALL)


def name_of(word: Word) -> str:
    """The name of the program that a command's first word names."""
    return word.bare.rpartition("/")[2]


def has_command_option(words: Sequence[Word]) -> bool:
    """Whether a shell is given its commands as a word (`-c`)."""
    return any(_COMMAND_OPTION.fullmatch(word.text) for word in words[1:])


def reads_stdin(words: Sequence[Word]) -> bool:
    """Whether a shell without `-c` gets its commands from its standard input."""
    operands: list[str] = []
    value = False
    for word in words[1:]:
        if value:
            value = False
        elif word.text.startswith(("-", "+")) and word.text != "-":
            value = _OPTION_WITH_VALUE.fullmatch(word.text) is not None
            if re.fullmatch(r"-\w*s\w*", word.text):
                return True
        else:
            operands.append(word.text)
    return not operands or operands[0] in _STDIN


def sources_stdin(words: Sequence[Word]) -> bool:
    """Whether `source` reads commands that stand in no file."""
    return any(word.text in _STDIN for word in words[1:])


def hides_command(words: Sequence[Word]) -> bool:
    """Whether a wrapper's command is glued to an option (`env -S...`)."""
    return name_of(words[0]) in _ATTACHING and any(_ATTACHED.fullmatch(word.text) for word in words[1:])


def latest_start(words: Sequence[Word]) -> int:
    """The last index at which a wrapper's command may begin, if each of its options takes the next word as a value."""
    latest = index = 0
    while index <= latest and index < len(words):
        if name_of(words[index]) in WRAPPERS:
            latest = max(latest, index + _prelude(words[index:]))
        index += 1
    return latest


def _prelude(words: Sequence[Word]) -> int:
    """How many words from a wrapper's name on may stand before its command."""
    index = 1
    operands = _OPERANDS.get(name_of(words[0]), 0)
    while index < len(words):
        if words[index].text.startswith("-"):
            index += 2
        elif words[index].assigns:
            index += 1
        elif operands:
            operands -= 1
            index += 1
        else:
            break
    return index


def executed_by_find(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The commands behind `-exec` and its kin, each up to its `;` or `+`."""
    start = 0
    for index, word in enumerate(words):
        if start and word.text in (";", "+"):
            yield words[start:index]
            start = 0
        elif not start and word.text in _EXEC:
            start = index + 1
    if start:
        yield words[start:]


def settings_of_git(words: Sequence[Word]) -> Iterator[str]:
    """The values that `git -c name=value` sets: aliases, pagers and the like are commands, an alias behind a `!`."""
    for option, setting in pairwise(words):
        if option.text == "-c":
            yield setting.text.partition("=")[2].removeprefix("!")


def run_by_xargs(words: Sequence[Word]) -> tuple[Sequence[Word], str] | None:
    """The command of `xargs` and the text in it that the input replaces ("" where the input is added to its end); None where
    its options are not known."""
    replaced = ""
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        option = words[index].text
        index += 1
        if option == "--":
            break
        replaces = _XARGS_REPLACES.fullmatch(option)
        if replaces:
            replaced = replaces[1] or replaces[2] or "{}"
        if _XARGS_VALUE.fullmatch(option):
            if replaces and index < len(words):
                replaced = words[index].text
            index += 1
        elif not (replaces or _XARGS_FLAG.fullmatch(option)):
            return None
    return words[index:], replaced
