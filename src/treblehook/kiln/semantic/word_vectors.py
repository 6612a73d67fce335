"""Static word vectors: the meaning of a text is the mean of its tokens' vectors, which come with the library `wordllama`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy
import wordllama  # type: ignore[import-untyped]  # It ships no types.

from treblehook.kiln.semantic.embedder import Vectors

LONGEST: Final = 4_000
"""Characters of a text that count, its first. A mean over more says ever less, and costs time that words do not need."""

_AT_ONCE: Final = 256
_IN_PARALLEL: Final = sys.platform == "linux"
"""Elsewhere a child process is forked, and the tokenizer's library then complains on its stderr if it has used threads."""


class WordVectors:
    """`wordllama`'s own weights, 256 dimensions. Pools by itself: the library's `embed` takes six times as long, and pads every text
    of a batch to the longest.
    """

    name = f"wordllama-l2_supercat-256-{LONGEST}"
    dimensions = 256

    def __init__(self) -> None:
        folder = Path(wordllama.__file__).parent
        model = wordllama.WordLlama.load("l2_supercat", cache_dir=folder, dim=self.dimensions, disable_download=True)
        self._weights: Vectors = model.embedding
        self._tokenizer = model.tokenizer
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text; only its first `LONGEST` characters count."""
        rows = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        for start in range(0, len(texts), _AT_ONCE):
            for at, tokens in enumerate(self._tokens(texts[start : start + _AT_ONCE]), start):
                if tokens:
                    self._weights[tokens].sum(axis=0, out=rows[at])
        lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
        numpy.divide(rows, lengths, out=rows, where=lengths > 0)
        return rows

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        # A lone surrogate has no UTF-8.
        clean = [text[:LONGEST].encode("utf-8", "replace").decode() for text in texts]
        if _IN_PARALLEL:
            return [encoded.ids for encoded in self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)]
        return [self._tokenizer.encode(text, add_special_tokens=False).ids for text in clean]
