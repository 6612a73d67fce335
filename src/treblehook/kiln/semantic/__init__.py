"""Search by meaning lives here: texts become vectors, and the nearest are found; files and the index of notes may not.

Nothing here uses the network. numpy and the word vectors are loaded with the first embedder.
"""

from treblehook.kiln.semantic.embedder import Embedder, Vectors, open_embedder
from treblehook.kiln.semantic.nearest import nearest

__all__ = ["Embedder", "Vectors", "nearest", "open_embedder"]
