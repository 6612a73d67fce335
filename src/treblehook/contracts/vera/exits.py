"""What an exit status that is a failure is called."""

import signal

from treblehook.engine import HookFailed


def failed_exit(status: int) -> HookFailed:
    """The failure of a hook with `status`: an exit status other than 0, or the negative number of the signal that killed it."""
    if status > 0:
        return HookFailed(f"exited with status {status}")
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return HookFailed(f"was killed by {name}")
