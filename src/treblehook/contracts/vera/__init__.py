"""The vera contract lives here: `config.json` is loaded, its executables are bound to events, asked and read; what runs a process may not.

`config.py` loads and `bind.py` makes the handlers of a session; `phases.py` is the table that both read. `payloads.py` says what
a hook is sent, `answers.py` what its output means, `command.py` brings the two together around a process. Scripts of the claude
protocol are loaded and run here too; what is special about them is in `contracts/claude`. The rules are those of vera.md.
"""
