"""Finding out whether an installation and a home are well lives here: what is there, what starts, what can be written; mending may not.

`examine.py` asks every other file here; what is wrong with a home's files is found by `home/checks`.
"""
