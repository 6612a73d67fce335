"""The murmur contract lives here: hooks that are WebAssembly components with a manifest; running a component may not.

`bindings.py` holds the table that everything else follows, `hook_manifest.py` what a hook says of itself, `artifact.py` the package
it comes in, `grant.py` what the operator allows it.
"""
