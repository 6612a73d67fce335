"""The messages of a conversation, and how full they make the context window."""

import itertools

from treblehook.agent.conversation import Conversation, estimate
from treblehook.agent.models.model import Usage
from treblehook.host.tool import ToolSpec
from treblehook.lifecycle import Message, ToolCall

ASK = Message("user", "x" * 400)
REPLY = Message("assistant", "y" * 40)


def conversation(*messages: Message) -> Conversation:
    """A conversation whose new messages are called m1, m2, ..."""
    numbers = itertools.count(1)
    return Conversation(messages, lambda: f"m{next(numbers)}")


def calls(*ids: str) -> Message:
    return Message("assistant", "", calls=tuple(ToolCall(id, "bash", {"command": "ls"}) for id in ids), raw="signed")


def test_every_message_has_an_id_and_keeps_the_one_it_has() -> None:
    told = conversation(ASK, Message("user", "b", id="mine"))

    assert [message.id for message in told.messages] == ["m1", "mine"]
    assert told.add(REPLY).id == "m2"
    assert told.insert_before("mine", Message("user", "c")).id == "m3"
    assert [message.id for message in told.messages] == ["m1", "m3", "mine", "m2"]
    assert told.insert_before("nobody", Message("user", "d", id="last")) == told.messages[-1]


def test_without_a_count_tokens_are_bytes_by_four() -> None:
    told = conversation(ASK)

    assert told.tokens() == estimate(ASK) == 104
    assert told.tokens("s" * 40) == 114
    tool = ToolSpec("bash", "z" * 400, {})
    assert 214 < told.tokens("s" * 40, [tool]) < 250
    assert conversation(Message("user", "ü" * 200)).tokens() == 104
    assert conversation(calls("c1")).tokens() > 10


def test_a_providers_count_holds_for_all_that_was_sent_and_its_reply() -> None:
    told = conversation(ASK)
    told.measured(Usage(1000, 50))

    assert told.tokens("system", [ToolSpec("bash", "z", {})]) == 1050
    told.add(REPLY)
    assert told.tokens() == 1050
    told.add(ASK)
    assert told.tokens() == 1154
    told.measured(Usage(1200, 10))
    assert told.tokens() == 1210


def test_where_the_counted_reply_was_not_kept_what_follows_counts_all_the_same() -> None:
    told = conversation(ASK)
    told.measured(Usage(1000, 50))

    told.add(ASK)

    assert told.tokens() == 1154


def test_a_restart_forgets_the_count_and_tells_what_was_left_once_that_is_counted() -> None:
    told = conversation(ASK)
    told.measured(Usage(1000, 50))
    assert told.left == 0

    told.restart([Message("user", "shorter")])

    assert (told.tokens(), told.left) == (5, 0)
    told.measured(Usage(300, 20))
    told.measured(Usage(900, 20))
    assert told.left == 320


def test_an_input_that_changed_takes_what_was_signed_with_it() -> None:
    told = conversation(calls("c1", "c2"))

    told.set_input("c1", {"command": "ls"})
    assert told.messages[0].raw == "signed"
    told.set_input("c2", {"command": "ls -l"})

    assert [call.input for call in told.messages[0].calls] == [{"command": "ls"}, {"command": "ls -l"}]
    assert told.messages[0].raw == ""


def test_the_newest_call_of_an_id_is_meant() -> None:
    told = conversation(calls("c1"), Message("tool", "", call_id="c1"), calls("c1"))

    told.set_input("c1", {"command": "pwd"})

    assert told.messages[0].calls[0].input == {"command": "ls"}
    assert told.messages[2].calls[0].input == {"command": "pwd"}
    told.set_input("nobody", {})
    assert told.find("nobody") is None
    assert told.find("m3") is told.messages[2]


def test_a_text_that_cannot_be_written_has_a_size_too() -> None:
    assert estimate(Message("user", "\ud83d" * 8)) == 6
