"""Turning a command into the `PreparedCall` that is gated, run and observed lives here; running it may not."""
