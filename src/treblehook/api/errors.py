"""What a program can do wrong that only shows once an agent runs."""

from treblehook.api.reply import Reply


class PrepareTurnFailed(Exception):
    """`prepare_turn` raised, answered what it may not, or took too long, so the turn did not begin (vera.md 7.1).

    `error` names the exception's type and text; `reply` is the blocked turn with its records.
    """

    def __init__(self, error: str, reply: Reply) -> None:
        super().__init__(f"prepare_turn failed: {error}")
        self.error = error
        self.reply = reply


class CalledFromOwnHook(RuntimeError):
    """A hook called the home that is waiting for this very hook; without this error both would wait for ever."""

    def __init__(self) -> None:
        super().__init__("this Home waits for the hook that calls it; open another one inside the hook: async with Home(...) as other")
