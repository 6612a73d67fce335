"""All that touches wasmtime lives here, and nothing else of ours does.

`convert.py` chooses how values cross: `direct.py` builds and reads the library's C values in one piece of memory, by closures that were
made from the function's type once; `stock.py` is the library's own conversion, which reads the type again for every value.
"""
