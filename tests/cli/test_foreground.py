"""What nobody expects keeps its traceback, and still the session is ended properly."""

import io
import json

import pytest

from tests.support.command_run import Stage
from treblehook.agent.permissions import Never
from treblehook.agent.session import Session
from treblehook.agent.steps import TurnEnd
from treblehook.cli.foreground import Foreground
from treblehook.cli.options import Flags
from treblehook.cli.output.output import Output
from treblehook.cli.output.stream import Stream
from treblehook.home.profile import SessionWish


async def test_an_unexpected_error_is_raised_after_the_session_has_ended(stage: Stage) -> None:
    stage.home.hook("session_end", "logbook", f"cat >/dev/null; : > {stage.folder}/closed; echo '{{}}'")
    flags = Flags(stage.home.folder, SessionWish(workspace=stage.workspace, model=f"script:{stage.model}"))

    async def converse(foreground: Foreground, session: Session) -> TurnEnd:
        raise ZeroDivisionError("nobody thought of that")

    with pytest.raises(ZeroDivisionError):
        await Foreground(flags, Output(), Stream(io.StringIO()), Never(), converse).run()

    last = json.loads(stage.sessions()[0].read_text().splitlines()[-1])
    assert (last["type"], last["status"]) == ("end", "failed")
    assert last["reason"] == "ZeroDivisionError: nobody thought of that"
    assert (stage.folder / "closed").exists()
