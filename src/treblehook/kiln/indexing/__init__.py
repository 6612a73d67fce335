"""How files come into the index lives here: all of a kiln at once, or the few that have changed; when to look may not.

Everything here blocks, and is called in a thread, one call at a time for each kiln.
"""
