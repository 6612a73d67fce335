"""The nearest of many vectors, by comparing all of them."""

from treblehook.kiln.semantic.embedder import Vectors


def nearest(matrix: Vectors, query: Vectors, k: int) -> list[tuple[int, float]]:
    """The `k` rows of `matrix` that are nearest to `query` (one row, or a matrix of one), each with its cosine, nearest first.

    The rows and the query have length 1 or 0. Rows equally near come in their own order, and fewer than `k` where there are fewer.
    """
    import numpy  # Whoever has vectors has loaded it.

    if k <= 0 or len(matrix) == 0:
        return []
    cosines = matrix @ query.reshape(-1)
    candidates = numpy.arange(len(cosines))
    if k < len(cosines):
        # All that are as near as the last one that is taken, so that the order of the rows decides between them.
        candidates = numpy.flatnonzero(cosines >= numpy.partition(cosines, -k)[-k])
    chosen = candidates[numpy.argsort(-cosines[candidates], kind="stable")][:k]
    return [(int(row), float(cosines[row])) for row in chosen]
