"""Counting tokens without a network."""

import hashlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from treblehook.host import tokens
from treblehook.host.tokens import find_counter

VOCABULARY = hashlib.sha1(b"https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken").hexdigest()


class Words:
    """An encoding whose tokens are words."""

    def encode(self, text: str, *, allowed_special: str) -> list[str]:
        assert allowed_special == "all"
        assert len(text) <= 50_000
        return text.split()


def stands_in(monkeypatch: pytest.MonkeyPatch, module: str, encoding: Any = None) -> None:
    """Make `module` a library with one encoding, or with None one that is not installed."""
    library: Any = None
    if encoding is not None:
        library = ModuleType(module)
        library.get_encoding = {"cl100k_base": encoding}.__getitem__
    monkeypatch.setitem(sys.modules, module, library)


def test_without_a_library_a_token_is_four_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stands_in(monkeypatch, "bpe_openai")

    counter = find_counter({"TIKTOKEN_CACHE_DIR": str(tmp_path)})

    assert counter.name == "bytes / 4"
    assert [counter.count(text) for text in ("", "abc", "abcd", "éééé", "\ud800" * 4)] == [0, 0, 1, 2, 1]


def test_tiktoken_is_not_asked_without_its_vocabulary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stands_in(monkeypatch, "tiktoken", Words())
    stands_in(monkeypatch, "bpe_openai", Words())
    (tmp_path / VOCABULARY).write_text("half of it")

    for folder in (str(tmp_path), ""):
        assert find_counter({"TIKTOKEN_CACHE_DIR": folder}).name == "cl100k_base by bpe-openai"


def test_tiktoken_counts_where_its_vocabulary_is_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stands_in(monkeypatch, "tiktoken", Words())
    (tmp_path / VOCABULARY).write_text("all of it")
    monkeypatch.setattr(tokens, "_SHA256", hashlib.sha256(b"all of it").hexdigest())

    counter = find_counter({"DATA_GYM_CACHE_DIR": str(tmp_path)})

    assert counter.name == "cl100k_base by tiktoken"
    assert counter.count("one two three") == 3


def test_a_long_text_is_counted_in_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stands_in(monkeypatch, "bpe_openai", Words())

    assert find_counter({"TIKTOKEN_CACHE_DIR": str(tmp_path)}).count("four " * 300_000) == 300_000
