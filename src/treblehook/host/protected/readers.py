"""Which commands are known to only read: they may name a protected place, and nobody is asked."""

import re
from collections.abc import Sequence
from typing import Final

from treblehook.shell.bash.commands import PREFIXES, Simple
from treblehook.shell.bash.programs import executed_by_find
from treblehook.shell.bash.word import UNSEEN, Word

_ONLY_READ = """
    : [ [[ (( b2sum basename break cat cd cksum cmp comm continue cut date df diff dirname du echo egrep exit false fgrep
    fold grep head hexdump jq kill ls md5sum more nl od paste popd printf pushd pwd read readlink realpath return rev sha1sum sha256sum
    sha512sum shasum sleep stat strings tac tail test tr true type uname wait wc which whoami
"""
_ALWAYS: Final = frozenset(_ONLY_READ.split())
"""Programs and builtins that write nothing but their output, whatever their options."""

_UNLESS: Final = {
    "file": re.compile(r"-\w*C\w*|--compile"),
    "find": re.compile(r"-delete|-fprint[0f]?|-fls"),
    "less": re.compile(r"-\w*[oOk].*|--(log|LOG|lesskey).*|\+.*"),
    "bat": re.compile(r"--pager.*|cache"),
    "rg": re.compile(r"--pre.*|--hostname-bin.*"),
    "sort": re.compile(r"-\w*[oST].*|--(o|c|t).*"),
    "tree": re.compile(r"-\w*[oR].*|--output.*"),
}
"""Programs that write nothing without one of these options."""

_GIT: Final = frozenset({"blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "rev-parse", "shortlog", "show", "status"})
_GIT_WRITES: Final = re.compile(r"-O.*|--o(?:=.*)?|--ou.*|--ext.*|--textc.*")
_GIT_KEEPS: Final = frozenset({"add", "commit", "tag"})
"""What changes no file but those of git, whatever its words are: messages among them."""
_GIT_FIRST: Final = frozenset({"--no-pager", "-P"})
_GH_ABOUT: Final = frozenset({"issue", "pr"})
_GH_TALKS: Final = frozenset({"close", "comment", "create", "edit", "list", "review", "status", "view"})

_ADDRESS = r"(?:\d+|\$|/[^/\n]*/)"
_SED_PRINTS: Final = re.compile(rf"(?:{_ADDRESS}(?: *, *\+?{_ADDRESS})? *)?!?[p=](?: *; *(?:{_ADDRESS}(?: *, *\+?{_ADDRESS})? *)?!?[p=q])*")
_AWK_WRITES: Final = re.compile(r"[>|@]|system|getline")
_FOLDERS: Final = frozenset({"", "/bin/", "/usr/bin/"})
_HANDING_ON: Final = frozenset({"command", "doas", "nice", "nohup", "sudo"})
"""Programs that run the words behind them; with an option between, they are not followed."""

_PLAINLY: Final = re.compile(r"[\w./+,:@%=~^*? \t\n;&|-]*")
_SEPARATORS: Final = re.compile(r"[;&|\n]+")


def reads_plainly(text: str) -> bool:
    """Whether a command line needs no taking apart to see that it only reads; most of those that are run are so."""
    if not _PLAINLY.fullmatch(text):
        return False
    firsts = [command.split(None, 1)[:1] for command in _SEPARATORS.split(text)]
    return all(first[0] in _ALWAYS for first in firsts if first)


def only_reads(command: Simple) -> bool:
    """Whether a command is known to change no file but those that its output is redirected to."""
    words = command.words
    while words and (words[0].raw in PREFIXES or (words[0].raw in _HANDING_ON and len(words) > 1)):
        words = words[1:]
    if not words or command.assignments or words[0].raw != words[0].seen:
        # Without a word it assigns or redirects; a name that is quoted or expanded is none that is known.
        return not words and not command.assignments
    folder, slash, name = words[0].raw.rpartition("/")
    if folder + slash not in _FOLDERS:
        return False
    if name in _ALWAYS or _only_tells(name, words):
        return True
    runs = executed_by_find(words) if name == "find" else ()
    return (
        not _any_unseen(words)
        and _reads_as_told(name, [word.text for word in words[1:]])
        and all(only_reads(Simple(list(executed), [])) for executed in runs)
    )


def _only_tells(name: str, words: Sequence[Word]) -> bool:
    """Whether a command changes no file whatever its last words are; those before are as they are written."""
    told = [word.text if word.raw == word.seen else "" for word in words[1:3]]
    if name == "git":
        return told[:1] != [] and told[0] in _GIT_KEEPS
    return name == "gh" and len(told) > 1 and told[0] in _GH_ABOUT and told[1] in _GH_TALKS


def _reads_as_told(name: str, arguments: list[str]) -> bool:
    if name in _UNLESS:
        return not any(map(_UNLESS[name].fullmatch, arguments))
    if name == "git":
        return _git_reads(arguments)
    if name == "sed":
        prints = arguments[:1] == ["-n"] and _SED_PRINTS.fullmatch("".join(arguments[1:2]).strip()) is not None
        return prints and not any(argument.startswith("-") for argument in arguments[2:])
    if name == "awk":
        return bool(arguments) and not arguments[0].startswith("-") and not _AWK_WRITES.search(arguments[0])
    return False


def _git_reads(arguments: list[str]) -> bool:
    while arguments and (arguments[0] in _GIT_FIRST or arguments[0] == "-C"):
        arguments = arguments[2 if arguments[0] == "-C" else 1 :]
    return bool(arguments) and arguments[0] in _GIT and not any(map(_GIT_WRITES.fullmatch, arguments))


def _any_unseen(words: Sequence[Word]) -> bool:
    """Whether an option may come out of a variable or another command; a file that is named like one is nobody's."""
    return any(UNSEEN in word.seen and re.search(r"[$`]", word.raw) for word in words)
