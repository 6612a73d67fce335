"""Vera's extensions live here: where they come from, how they are activated, and their functions and executables as handlers; no
session and no other contract may.

`extensions.py` tells the life of all of a home's extensions. `sources.py` finds them, `manifest.py` reads their manifests,
`activation.py` says what `activate` is given and gave back, `binding.py` makes handlers. `api.cjs` is the other half: it runs in each
JavaScript extension's worker and is the `vera` that it sees; `vera.d.ts` declares that. For Python `python_functions.py` and
`python_api.py` are what `api.cjs` is. The rules are those of vera.md 5.
"""
