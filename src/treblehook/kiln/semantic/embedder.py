"""What turns texts into vectors, and the one that works without a network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[numpy.float32]"
"""A matrix with one row for each text."""


class Embedder(Protocol):
    """Turns texts into vectors whose angles tell how near their meanings are. It may be used from several threads."""

    @property
    def name(self) -> str:
        """Names the vectors: those of one name can be compared with each other, and an index keeps them by it."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text, in order; a row of zeros, near to nothing, for a text without a word."""


def open_embedder() -> Embedder | None:
    """The embedder of the `semantic` extra, or None where that is not installed. Takes about 0.3 s; reads files only."""
    try:
        from treblehook.kiln.semantic.word_vectors import WordVectors
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "wordllama"):
            raise
        return None
    return WordVectors()
