"""The interpreter form of a command: a script that a shell runs."""

from treblehook.lifecycle import PreparedCall
from treblehook.shell.resolve import find_on_path


def prepare_interpreter(command: str, *, tool: str, search_path: str) -> PreparedCall:
    """`command` as bash runs it, or sh where `search_path` has no bash; blanks at both ends of the command do not count.

    `executable` is the canonical path of the shell, or the bare name `sh` where there is neither: such a call cannot run.
    There is no recipe in this form. Rules: murmur.md 3.5, 5.6, 5.7.
    """
    shell = find_on_path("bash", search_path) or find_on_path("sh", search_path)
    script = command.strip()
    return PreparedCall(
        tool=tool,
        command=script,
        executable=str(shell) if shell else "sh",
        argv=("-c", script),
        script=script,
    )
