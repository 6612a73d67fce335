"""What loads the hooks of one published contract, and turns an event into its payload and an answer into a decision; no agent, no screen and no HTTP may live here."""
