"""How a session is shown lives here: as JSON lines, as plain text, on a terminal; what a command does may not."""
