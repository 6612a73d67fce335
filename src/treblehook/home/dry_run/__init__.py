"""Firing one event at a home's handlers while nothing else happens lives here; what is shown of it, and sessions, may not.

`firing.py` does it. `wish.py` is what a user says of the event, `events.py` and `calls.py` make it, `verdict.py` reads the outcome.
"""
