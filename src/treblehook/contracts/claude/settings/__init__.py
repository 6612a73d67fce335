"""Hooks of Claude Code's own settings files live here, read and asked as Claude Code does; which files count, and trust, may not.

`loading.py` reads a file, `matching.py` says whom a hook is for, `payloads.py` what it is sent, `answers.py` what one hook said and
`verdicts.py` what all of them together come to. `rounds.py` asks all hooks of one event at once, `bind.py` makes handlers of them. Where
Claude Code differs from the `claude` protocol of the vera contract, these rules are Claude Code's (docs/claude-settings.md).
"""
