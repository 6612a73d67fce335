"""A session's file lives here: its name, and the append-only record of what happened in it; what a record means may not.

`transcript.py` writes it, `records.py` is its format, `ids.py` names and finds sessions.
"""

from treblehook.agent.transcript.errors import SessionAmbiguous, SessionBusy, SessionNotFound, SessionUnknown, TranscriptFailed
from treblehook.agent.transcript.ids import SessionFile, find_session, list_sessions, new_session_id
from treblehook.agent.transcript.records import Contents, read_records
from treblehook.agent.transcript.transcript import Transcript

__all__ = [
    "Contents",
    "SessionAmbiguous",
    "SessionBusy",
    "SessionFile",
    "SessionNotFound",
    "SessionUnknown",
    "Transcript",
    "TranscriptFailed",
    "find_session",
    "list_sessions",
    "new_session_id",
    "read_records",
]
