"""Plugins live here: where they are found, their manifest, loading, reloading, what state each is in; the functions of `cru` may not.

`plugins.py` is the page to read first; `loading.py` is how one plugin gets in and out of the VM.
"""
