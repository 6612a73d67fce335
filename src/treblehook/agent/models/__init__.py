"""The model layer of our own agent: providers over the wire and the scripted model."""
