"""Runs the agents that people already have, for real, against the scripted model server; `make test-agents` installs them."""
