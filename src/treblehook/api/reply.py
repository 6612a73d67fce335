"""What one prompt came to."""

from msgspec import Struct

from treblehook.agent.records import Record
from treblehook.agent.steps import Status


class Reply(Struct, frozen=True):
    """How a turn ended. `text` is the model's last final reply, `reason` the words of the hook or provider that ended it otherwise.

    `records` are those of `--output jsonl` (docs/records.md) since the reply before, the session's start included; those of
    subagents are among them, under their own `session`. `cut` is true where the text ran into the provider's limit on its length.
    """

    session: str
    status: Status
    text: str
    reason: str = ""
    records: tuple[Record, ...] = ()
    cut: bool = False
