"""The murmur contract lives here: hooks that are WebAssembly components with a manifest; running a component may not.

`bindings.py` holds the table that everything else follows, `hook_manifest.py` what a hook says of itself, `artifact.py` the package
it comes in, `grant.py` what the operator allows it. `staging.py` makes of these what can be started, `hooks.py` binds and starts it,
`running.py` is one hook as it runs, `asking.py` puts an event to it and `answers.py` reads what it says. `imports/` is what a hook may
call.
"""
