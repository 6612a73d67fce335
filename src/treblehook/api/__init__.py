"""What a Python program drives an agent with lives here: homes, sessions, replies; how a turn or a hook is run may not.

`home.py` opens a home and its sessions, `session.py` is one conversation, `running.py` takes one prompt from start to end.
"""

from treblehook.agent.errors import SessionRefused
from treblehook.agent.models.model import ModelSpecInvalid
from treblehook.agent.transcript import SessionBusy, SessionNotFound, TranscriptFailed
from treblehook.api.errors import CalledFromOwnHook, PrepareTurnFailed
from treblehook.api.home import Home
from treblehook.api.reply import Reply
from treblehook.api.running import arun, run
from treblehook.api.session import Session
from treblehook.contracts.vera.extensions.python_api import Treblehook
from treblehook.host.problems import ConfigInvalid, Problem

__all__ = [
    "CalledFromOwnHook",
    "ConfigInvalid",
    "Home",
    "ModelSpecInvalid",
    "PrepareTurnFailed",
    "Problem",
    "Reply",
    "Session",
    "SessionBusy",
    "SessionNotFound",
    "SessionRefused",
    "TranscriptFailed",
    "Treblehook",
    "arun",
    "run",
]
