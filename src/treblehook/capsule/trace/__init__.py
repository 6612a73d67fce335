"""The trace of a launch, `trace.jsonl` (murmur.md 8.3): who writes it and who reads it; what is written about is decided elsewhere.

`file.py` writes lines into their tree, `witness.py` makes lines of what happens, which `dispatcher.py` lets it see, and counts it in
`totals.py`; `faults.py` keeps what hooks did wrong until its turn has come, `reading.py` reads a trace again.
"""
