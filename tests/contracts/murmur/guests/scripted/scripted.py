"""A hook that runs the Python of its configuration: {"on-shell": "answer = deny('no')"}; `seen` is kept between calls.

The source finds the event as `event`, and leaves what it has to say in `answer`: an arm, or nothing for none.
"""

import json
import os
import socket
import time
import traceback

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import inference, lifecycle, murmur_conversation_read, murmur_task_io_read, tokens


def said(text):
    """The answer with which a test reads what the hook has found: an error, which its log tells."""
    raise Err(str(text))


NAMES = {
    "Err": Err,
    "conversation": murmur_conversation_read,
    "deny": lifecycle.HookOutput_Deny,
    "inference": inference,
    "json": json,
    "lifecycle": lifecycle,
    "os": os,
    "said": said,
    "seen": [],
    "socket": socket,
    "task": murmur_task_io_read,
    "time": time,
    "tokens": tokens,
}


def run(function, event):
    source = json.loads(os.environ.get("MURMUR_ARTIFACT_CONFIG", "{}")).get(function)
    if source is None:
        return lifecycle.HookOutput_None_()
    names = {**NAMES, "event": event}
    try:
        exec(source, names)
    except Err:
        raise
    except Exception as error:
        raise Err(traceback.format_exc()) from error
    return names.get("answer", lifecycle.HookOutput_None_())


class Lifecycle(exports.Lifecycle):
    def on_stage(self, event):
        return run("on-stage", event)

    def on_session_start(self, ctx):
        return run("on-session-start", ctx)

    def on_task_start(self, event):
        return run("on-task-start", event)

    def on_inference(self, event):
        return run("on-inference", event)

    def on_tool_call(self, event):
        return run("on-tool-call", event)

    def on_shell(self, event):
        return run("on-shell", event)

    def on_compaction(self, event):
        return run("on-compaction", event)

    def on_task_end(self, event):
        return run("on-task-end", event)

    def on_session_end(self, event):
        return run("on-session-end", event)
