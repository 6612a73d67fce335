"""What an agent runs at each of its events lives here; nothing may be imported before it is needed.

`client.py` asks the daemon, as a file of its own that needs no package; `slow.py` takes over where no daemon answers.
"""
