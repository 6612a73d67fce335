"""How many tokens a text has: the encoding cl100k_base where its vocabulary is at hand, else an estimate (murmur.md 3.7)."""

import hashlib
import importlib
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

ENCODING: Final = "cl100k_base"
_SOURCE: Final = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
_SHA256: Final = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_PIECE: Final = 50_000
"""Characters that are counted at once: bpe-openai refuses more than 200,000 tokens, of which a character has four at most."""


class TokenCounter(Struct, frozen=True):
    """Counts tokens; `name` says how. Thread-safe."""

    name: str
    count: Callable[[str], int]


@cache
def counter() -> TokenCounter:
    """The best counter that there is, which takes up to a second to find. Nothing is ever downloaded.

    `tiktoken` counts if its vocabulary is on disk already, else `bpe-openai`, which brings its own; else it is bytes ÷ 4.
    """
    return find_counter(os.environ)


def find_counter(environ: Mapping[str, str]) -> TokenCounter:
    """The same, looked for anew; `environ` may name tiktoken's folder."""
    if _vocabulary(environ) and (found := _by_library("tiktoken")):
        return found
    return _by_library("bpe_openai") or TokenCounter("bytes / 4", lambda text: len(text.encode("utf-8", "replace")) // 4)


def _vocabulary(environ: Mapping[str, str]) -> bool:
    """Whether tiktoken's file is there and whole; it would be downloaded otherwise."""
    folder = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR", str(Path(tempfile.gettempdir()) / "data-gym-cache")))
    try:
        content = (Path(folder) / hashlib.sha1(_SOURCE.encode(), usedforsecurity=False).hexdigest()).read_bytes()
    except OSError:
        return False
    return bool(folder) and hashlib.sha256(content).hexdigest() == _SHA256


def _by_library(module: str) -> TokenCounter | None:
    try:
        encoding: Any = importlib.import_module(module).get_encoding(ENCODING)
    except ImportError:
        return None

    def count(text: str) -> int:
        pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
        return sum(len(encoding.encode(piece, allowed_special="all")) for piece in pieces)

    return TokenCounter(f"{ENCODING} by {module.replace('_', '-')}", count)
