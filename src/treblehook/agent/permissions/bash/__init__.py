"""How a command line is read for permission rules lives here: words, simple commands, what runs what; running anything may not.

`reading.py` is the whole of it, `commands.py` takes a line apart, `words.py` reads one word.
"""
