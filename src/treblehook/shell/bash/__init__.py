"""How a bash command line is taken apart lives here: words, simple commands, what runs what; running or judging anything may not.

`commands.py` takes a line apart, `words.py` reads one word, `programs.py` knows the programs that run others.
"""
