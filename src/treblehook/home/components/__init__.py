"""The WebAssembly hooks of a home live here: the `[[artifacts]]` of its config.toml, staged once and started anew for each session; what
such a hook means stands in `contracts/murmur`.

`staged.py` is what all sessions share, `session.py` what one session has. `entries.py` and `resolve.py` read an operator's list, a
capsule's too; `inference.py`, `record.py` and `desk.py` answer hooks that ask.
"""
