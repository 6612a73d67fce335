"""What loads the hooks of one published contract lives here; no agent, no screen and no HTTP may.

A contract turns an event into its payload and an answer into a decision.
"""
