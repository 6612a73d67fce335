"""Our own host lives here: session, turn, models, permissions, compaction, subagents, transcript; no contract's name may appear.

Read `turn.py` first: one turn from prompt to end, every event fired in order.
"""
