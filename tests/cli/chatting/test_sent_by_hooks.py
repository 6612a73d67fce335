"""A chat takes the turns for what hooks send into its session, also while nobody types."""

import asyncio

from tests.support.nest import Nest, nest, texts
from treblehook.agent.steps import TurnEnd
from treblehook.cli.chatting.talk import Talk
from treblehook.cli.output.output import Output

__all__ = ["nest"]


class Shown(Output):
    """The turns that were shown as over."""

    def __init__(self) -> None:
        self.ends: asyncio.Queue[TurnEnd] = asyncio.Queue()

    def turn_ended(self, end: TurnEnd) -> None:
        self.ends.put_nowait(end)


async def test_what_a_hook_sends_starts_a_turn_while_the_chat_is_idle(nest: Nest) -> None:
    nest.plays({"text": "One."}, {"text": "Two."}, {"text": "Three."})
    session, shown = await nest.open(), Shown()
    talk = Talk(session, shown, lambda: None)
    talking = asyncio.ensure_future(talk.run())
    talk.say("dig", "idle")
    assert (await shown.ends.get()).text == "One."

    assert await session.send("from a hook", "idle")
    assert (await shown.ends.get()).text == "Two."
    assert await session.send("hurry", "now")
    assert (await shown.ends.get()).text == "Three."
    talk.input_is_over()
    await talking

    assert [texts(query)[-1] for query in nest.queries] == ["dig", "from a hook", "hurry"]
    assert len(nest.ears.of("end")) == talk.turns == 3


async def test_the_user_comes_first(nest: Nest) -> None:
    nest.plays({"text": "One."}, {"text": "Two."})
    session, shown = await nest.open(), Shown()
    talk = Talk(session, shown, lambda: None)
    session.send("from a hook", "idle")
    talk.say("dig", "idle")
    talk.input_is_over()

    await talk.run()

    assert [texts(query)[-1] for query in nest.queries] == ["dig", "from a hook"]
