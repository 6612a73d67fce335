"""The composition root lives here: a home's files become handlers, and a session gets its own over the home's; no turn logic and no screen may."""
