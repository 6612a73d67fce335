"""WIT text is read here, as far as functions and their types go; what a component really has is read elsewhere.

Resources, futures and streams have no values that could cross, so a text with one of them is refused.
"""

from treblehook.runtimes.wasm.wit.packages import Interface, read_folder, read_text
from treblehook.runtimes.wasm.wit.tokens import WitError

__all__ = ["Interface", "WitError", "read_folder", "read_text"]
