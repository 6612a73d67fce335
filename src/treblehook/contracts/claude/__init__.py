"""The claude protocol of the vera contract lives here: its events, payloads and answers; loading and running hooks is `contracts/vera`'s.

The rules are those of vera.md 4. `events.py` maps the events to phases, `payloads.py` says what a script is sent, `answers.py`
what its exit status and output mean.
"""
