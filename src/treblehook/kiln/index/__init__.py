"""What is known of a kiln's notes lives here, one SQLite file for each kiln; the notes themselves are never touched.

Every method blocks, and is called in a thread. Reading goes on while something is written.
"""
