"""The composition root lives here: a home's files become handlers and sessions; no turn logic and no screen may.

`home.py` is what the sessions of a home share, `sessions.py` opens one with its handlers over the home's.
"""
