"""What the commands share that put the gateway into agents that people already have; what is written there is not decided here."""
