"""The plugin for OpenCode, in Node and in OpenCode's own Bun: what it sends, and what becomes of answers and of their lack."""

import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.gateway.plugins.conftest import Answer, Daemon, Plugin

BEFORE = "tool.execute.before"
AFTER = "tool.execute.after"
SESSION = "ses_1"


@pytest.fixture
def agent() -> str:
    return "opencode"


def before(args: dict[str, Any] | None = None, session: str = SESSION) -> dict[str, Any]:
    given = {"command": "ls", "description": "x"} if args is None else args
    return {"hook": BEFORE, "input": {"tool": "bash", "sessionID": session, "callID": "c1"}, "output": {"args": given}}


def after(**output: Any) -> dict[str, Any]:
    about = {"tool": "bash", "sessionID": SESSION, "callID": "c1", "args": {"command": "ls"}}
    return {"hook": AFTER, "input": about, "output": {"title": "ls", "metadata": {"exit": 0}, **output}}


def message(*texts: str, session: str = SESSION, key: str = "none") -> dict[str, Any]:
    parts = [{"id": f"prt_{n}", "type": "text", "text": text} for n, text in enumerate(texts)]
    about = {"id": "msg_1", "role": "user", "model": {"providerID": "p", "modelID": "m"}, "apiKey": key}
    return {"hook": "chat.message", "input": {"sessionID": session}, "output": {"message": about, "parts": parts}}


def event(type: str, **properties: Any) -> dict[str, Any]:
    return {"hook": "event", "input": {"event": {"type": type, "properties": properties}}}


def said(text: str, session: str = SESSION) -> dict[str, Any]:
    return {"hook": "experimental.text.complete", "input": {"sessionID": session}, "output": {"text": text}}


def test_a_call_is_sent_with_what_opencode_gives(plugin: Plugin, daemon: Daemon) -> None:
    plugin.run({"hook": "config", "input": {"mcp": {"files": {"command": ["x"], "environment": {"KEY": "secret"}}}}}, before())

    assert daemon.targets == [f"/hooks/opencode?event={BEFORE}"]
    assert daemon.calls == [
        {
            "event": BEFORE,
            "session": SESSION,
            "subagent": "",
            "workspace": "/work",
            "servers": ["files"],
            "input": {"tool": "bash", "sessionID": SESSION, "callID": "c1"},
            "output": {"args": {"command": "ls", "description": "x"}},
        }
    ]


def test_no_opinion_changes_nothing(plugin: Plugin, daemon: Daemon) -> None:
    steps = before(), after(output="a"), message("hi")

    ran = plugin.run(*steps, closed={BEFORE, "chat.message"})

    assert [one["output"] for one in ran] == [step["output"] for step in steps]
    assert ran.stderr == ""


def test_a_denial_is_thrown_with_its_reason(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"deny": "leave it"}

    assert plugin.run(before())[0]["threw"] == "leave it"


def test_a_rewrite_changes_the_very_object_and_drops_what_hooks_took_out(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"args": {"command": "echo b", "timeout": 5}}

    assert plugin.run(before()) == [{"returned": None, "output": {"args": {"command": "echo b", "timeout": 5}}, "same": True}]


@pytest.mark.parametrize("content", ["b", ""])
def test_a_patch_replaces_the_text(plugin: Plugin, daemon: Daemon, content: str) -> None:
    daemon.answer = {"content": content, "is_error": False}

    assert plugin.run(after(output="a"))[0]["output"]["output"] == content


def test_a_patch_of_an_mcp_result_keeps_what_is_no_text(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"content": "b", "is_error": False}
    picture = {"type": "image", "data": "AAAA"}

    ran = plugin.run(after(content=[{"type": "text", "text": "a"}, picture]))

    assert ran[0]["output"]["content"] == [{"type": "text", "text": "b"}, picture]
    assert daemon.calls[0]["output"]["content"] == [{"type": "text", "text": "a"}]


def test_a_result_that_hooks_make_an_error_is_thrown(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"content": "broken", "is_error": True}

    assert plugin.run(after(output="a"))[0]["threw"] == "broken"


def test_context_goes_into_the_text_of_the_prompt(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"context": "north is up"}

    ran = plugin.run(message("hi", "there"))

    texts = [part["text"] for part in ran[0]["output"]["parts"]]
    assert texts == ["hi\n\n<hook_context>\nnorth is up\n</hook_context>", "there"]


def test_context_that_came_without_a_prompt_goes_with_the_next(plugin: Plugin, daemon: Daemon) -> None:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        daemon.answer = {"context": "after the compaction"} if daemon.event == "session.compacted" else {}
        daemon.reply(handler)
        daemon.answer = reply

    daemon.answer = reply
    ran = plugin.run(event("session.compacted", sessionID=SESSION), message("one"), message("two"))

    assert [one["output"]["parts"][0]["text"] for one in ran[1:]] == ["one\n\n<hook_context>\nafter the compaction\n</hook_context>", "two"]


def test_a_blocked_prompt_is_thrown(plugin: Plugin, daemon: Daemon) -> None:
    daemon.answer = {"block": "no such prompts"}

    assert plugin.run(message("hi"))[0]["threw"] == "no such prompts"


def test_a_prompt_is_sent_without_keys_and_without_files(plugin: Plugin, daemon: Daemon) -> None:
    step = message("hi", key="sk-secret")
    step["input"] |= {"agent": "build", "model": {"apiKey": "sk-secret"}}
    step["output"]["parts"].append({"type": "file", "url": "data:sk-secret"})

    plugin.run(step)

    assert "sk-secret" not in str(daemon.calls)
    assert [part["text"] for part in daemon.calls[0]["output"]["parts"]] == ["hi"]


def test_a_subagent_is_told_apart_from_the_session_that_it_works_for(plugin: Plugin, daemon: Daemon) -> None:
    created = event("session.created", sessionID="ses_2", info={"id": "ses_2", "parentID": SESSION})

    plugin.run(created, before(session="ses_2"), said("found", "ses_2"), event("session.idle", sessionID="ses_2"), before())

    assert [(call["event"], call["session"], call["subagent"]) for call in daemon.calls] == [
        (BEFORE, SESSION, "ses_2"),
        ("session.idle", SESSION, "ses_2"),
        (BEFORE, SESSION, ""),
    ]


def test_a_turn_ends_with_the_words_that_no_tool_call_follows(plugin: Plugin, daemon: Daemon) -> None:
    finish = {"type": "step-finish", "reason": "tool-calls", "sessionID": SESSION}

    plugin.run(
        said("let me look"),
        event("message.part.updated", sessionID=SESSION, part=finish),
        event("session.idle", sessionID=SESSION),
        said("found it"),
        event("session.idle", sessionID=SESSION),
        said("half of"),
        event("session.error", sessionID=SESSION),
        event("session.idle", sessionID=SESSION),
    )

    assert [(call["event"], call["reply"]) for call in daemon.calls] == [("session.idle", "found it")]


def test_a_deleted_session_is_told(plugin: Plugin, daemon: Daemon) -> None:
    plugin.run(event("session.deleted", info={"id": SESSION}), event("server.connected"))

    assert [(call["event"], call["session"]) for call in daemon.calls] == [("session.deleted", SESSION)]


def test_a_compaction_is_told(plugin: Plugin, daemon: Daemon) -> None:
    plugin.run({"hook": "experimental.session.compacting", "input": {"sessionID": SESSION}, "output": {"context": []}})

    assert [(call["event"], call["session"]) for call in daemon.calls] == [("experimental.session.compacting", SESSION)]


def test_ten_megabytes_go_both_ways(plugin: Plugin, daemon: Daemon) -> None:
    big = "ä" * 5_000_000
    daemon.answer = {"args": {"command": big}}

    ran = plugin.run(before({"command": big}))

    assert ran[0]["output"]["args"]["command"] == big
    assert daemon.calls[0]["output"]["args"]["command"] == big


# Nobody answers.


def test_without_a_daemon_the_client_is_asked(plugin: Plugin) -> None:
    plugin.client("""echo '{"deny": "said the client"}'""")

    assert plugin.run(before())[0]["threw"] == "said the client"
    words, call = plugin.asked.read_text().splitlines()
    assert words.split()[-5:] == ["opencode", BEFORE, "open", str(plugin.socket), str(plugin.socket.parent)]
    assert f'"event":"{BEFORE}"' in call


def test_a_stale_socket_is_no_daemon(plugin: Plugin, daemon: Daemon) -> None:
    daemon.close()
    plugin.client("echo '{}'")

    assert plugin.socket.exists()
    assert "threw" not in plugin.run(before(), closed={BEFORE})[0]


FAILURES = {"an exit status": "echo no python >&2; exit 3", "no answer": "exit 0", "no JSON": "echo '{\"deny'", "no object": "echo '[]'"}


@pytest.mark.parametrize("script", FAILURES.values(), ids=FAILURES)
def test_a_closed_call_without_an_answer_is_denied(plugin: Plugin, script: str) -> None:
    plugin.client(script)

    ran = plugin.run(before(), message("hi"), closed={BEFORE, "chat.message"})

    assert all(one["threw"].startswith("treblehook: no answer can be had, so this is denied: ") for one in ran)
    assert len(ran) == 2


@pytest.mark.parametrize("script", FAILURES.values(), ids=FAILURES)
def test_an_open_call_without_an_answer_passes_and_says_so_once(plugin: Plugin, script: str) -> None:
    plugin.client(script)
    steps = before(), after(output="a"), message("hi")

    ran = plugin.run(*steps)

    assert [one["output"] for one in ran] == [step["output"] for step in steps]
    assert ran.stderr.startswith(f"treblehook: {BEFORE}: the hooks were not asked: ")
    assert ran.stderr.count("treblehook: ") == 1


def test_a_client_that_is_not_there(plugin: Plugin) -> None:
    (plugin.socket.parent / "python").unlink()

    ran = plugin.run(before(), message("hi"), closed={BEFORE})

    assert "threw" in ran[0]
    assert "threw" not in ran[1]


# The daemon answers, but not as it should.

GARBAGE: dict[str, bytes] = {
    "no JSON": b'{"deny": "x',
    "a list": b"[]",
    "nothing": b"",
    "a reason that is no text": b'{"deny": true}',
    "an input that is no object": b'{"args": [1]}',
    "text before": b'ok {"deny": "x"}',
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_garbage_denies_a_closed_call(plugin: Plugin, daemon: Daemon, answer: bytes) -> None:
    daemon.answer = answer

    assert "so this is denied" in plugin.run(before(), closed={BEFORE})[0]["threw"]


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_garbage_lets_an_open_call_pass(plugin: Plugin, daemon: Daemon, answer: bytes) -> None:
    daemon.answer = answer

    ran = plugin.run(before())

    assert ran[0]["output"] == before()["output"]
    assert "the hooks were not asked" in ran.stderr


def fails(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(500)
    handler.send_header("Content-Length", "2")
    handler.end_headers()
    handler.wfile.write(b"{}")


def hangs_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.shutdown(2)


def stops_half_way(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"deny": ')
    handler.wfile.flush()
    hangs_up(handler)


@pytest.mark.parametrize("answer", [fails, hangs_up, stops_half_way])
def test_a_daemon_that_fails_is_as_none(plugin: Plugin, daemon: Daemon, answer: Answer) -> None:
    daemon.answer = answer
    plugin.client("""echo '{"deny": "said the client"}'""")

    assert plugin.run(before())[0]["threw"] == "said the client"


@pytest.mark.parametrize("closed", [True, False])
def test_a_slow_daemon_is_not_waited_for(plugin: Plugin, daemon: Daemon, closed: bool) -> None:
    over = threading.Event()

    def waits(handler: BaseHTTPRequestHandler) -> None:
        over.wait(60)

    daemon.answer = waits
    try:
        ran = plugin.run(before(), closed={BEFORE} if closed else (), seconds=0.2)
    finally:
        over.set()

    assert ("threw" in ran[0]) == closed
    assert "no answer within 0.2 s" in (ran[0]["threw"] if closed else ran.stderr)
    assert not plugin.asked.exists()


@pytest.mark.parametrize("closed", [True, False])
def test_a_slow_client_is_not_waited_for(plugin: Plugin, closed: bool) -> None:
    plugin.client("exec sleep 60")

    ran = plugin.run(before(), closed={BEFORE} if closed else (), seconds=0.2)

    assert ("threw" in ran[0]) == closed


def test_the_client_has_what_the_daemon_left_of_the_time(plugin: Plugin, daemon: Daemon) -> None:
    """Half of it passes until the daemon hangs up, and the other half until the client has been started."""
    daemon.answer = hangs_up
    plugin.client("exec sleep 60")

    ran = plugin.run({**before(), "jump": 500_000}, closed={BEFORE}, seconds=1000)

    assert "no answer within 1000 s" in ran[0]["threw"]


# What OpenCode gives is not as it was.


@pytest.mark.parametrize("closed", [True, False])
def test_a_plugin_that_fails_itself_goes_by_the_policy(plugin: Plugin, daemon: Daemon, closed: bool) -> None:
    step = {"hook": "chat.message", "input": {"sessionID": SESSION}, "output": {}}

    ran = plugin.run(step, closed={"chat.message"} if closed else ())

    assert ("threw" in ran[0]) == closed
    assert "the plugin failed" in (ran[0]["threw"] if closed else ran.stderr)


def test_odd_events_do_no_harm(plugin: Plugin, daemon: Daemon) -> None:
    ran = plugin.run({"hook": "event", "input": {}}, event("session.created"), event("session.idle"), {"hook": "config", "input": None})

    assert not any("threw" in one for one in ran)
