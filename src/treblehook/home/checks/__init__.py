"""Finding out what is wrong with a home without running any of it lives here: what would not load, what can never work; loading may not.

`check.py` asks every other file here, each of which looks for one kind of mistake.
"""
