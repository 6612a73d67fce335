"""What the operator wrote: `murmur.yaml` of a capsule, as it is or packed, and nothing of what becomes of it.

`opening.py` finds it, `reading.py` reads it, `artifacts.py` reads its list of artifacts, `values.py` is what they make of it.
"""
