"""The scripted model lives here: it plays replies from a file, for demos, tests and trying hooks without a key; no network may.

`file.py` is the file's format, `position.py` finds the place in it from the conversation, `player.py` answers.
"""
