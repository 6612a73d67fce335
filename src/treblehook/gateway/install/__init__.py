"""Putting the gateway into an agent's own configuration and taking it out again lives here; answering hook calls may not.

`installing.py` plans a change and makes it, `settings.py` knows our entries in a settings file, `text/` edits JSON without touching what is
not ours, `files.py` writes, `record.py` remembers, `codex_trust.py` is Codex's own step, `health.py` fires a probe through what is there
and `switches.py` knows what turns it off.
"""
