"""What a chat needs besides a session lives here: its order of turns, its commands, its keyboard and its JSON lines; no screen may.

`talk.py` says what is done when.
"""
