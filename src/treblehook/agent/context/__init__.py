"""What a request carries beside the conversation lives here: found notes, attachments, what hooks make of them; a turn's order may not.

`context.py` puts one turn's requests together, `precognition.py` finds notes for it, `block.py` is what they read like.
"""
