"""From bytes or a file to a component: what is compiled already is only mapped."""

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from treblehook.runtimes.wasm.binding.engine import (
    Code,
    Engine,
    WasmtimeError,
    compile_component,
    compiled_bytes,
    fingerprint,
    load_compiled,
    to_binary,
)
from treblehook.runtimes.wasm.binding.inspect import Surface
from treblehook.runtimes.wasm.cache import CodeCache
from treblehook.runtimes.wasm.component import Component
from treblehook.runtimes.wasm.errors import TooLarge

LARGEST: Final = 256 * 1024 * 1024
"""Bytes of a component that is still loaded."""


class Loader:
    """Makes components for one engine, on whatever thread it is called. What is in use is shared, and
    compiled by one thread only."""

    def __init__(self, engine: Engine, cache: CodeCache | None) -> None:
        self._engine = engine
        self._cache = cache
        self._fingerprint = fingerprint().encode()
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._loaded: WeakValueDictionary[str, Component] = WeakValueDictionary()

    def load(self, source: bytes | Path, compiling: Callable[[int], None]) -> Component:
        """Load, and tell `compiling` the number of bytes if it has to be compiled.

        Raises `NotAComponent`, `CoreModule`, `TooLarge`, `CannotCompile`; `OSError` where the file cannot be read.
        """
        if isinstance(source, Path):
            return self._load_file(source, compiling)
        if len(source) > LARGEST:
            raise TooLarge(len(source), LARGEST)
        return self._load(hashlib.sha256(source).hexdigest(), lambda: source, compiling)

    def _load_file(self, path: Path, compiling: Callable[[int], None]) -> Component:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST:
                raise TooLarge(size, LARGEST)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            return self._load(digest, lambda: file.read(LARGEST), compiling)

    def _load(self, digest: str, read: Callable[[], bytes], compiling: Callable[[int], None]) -> Component:
        with self._lock:
            turn = self._turns.setdefault(digest, threading.Lock())
        with turn:
            component = self._loaded.get(digest) or self._cached(digest) or self._compiled(read(), compiling)
            self._loaded[component.digest] = component
        with self._lock:
            self._turns.pop(digest, None)
        return component

    def _cached(self, digest: str) -> Component | None:
        path = None if self._cache is None else self._cache.find(self._key(digest))
        if path is None:
            return None
        try:
            return self._component(load_compiled(self._engine, path), digest, from_cache=True)
        except WasmtimeError:
            # Compiled by another build of the library, or for another processor.
            return None

    def _compiled(self, source: bytes, compiling: Callable[[int], None]) -> Component:
        # A file may have changed since it was hashed.
        digest = hashlib.sha256(source).hexdigest()
        binary = to_binary(source)
        compiling(len(binary))
        code = compile_component(self._engine, binary)
        if self._cache is not None:
            self._cache.store(self._key(digest), compiled_bytes(code))
        return self._component(code, digest, from_cache=False)

    def _component(self, code: Code, digest: str, *, from_cache: bool) -> Component:
        return Component(code, Surface(self._engine, code), digest, from_cache=from_cache)

    def _key(self, digest: str) -> str:
        return hashlib.sha256(self._fingerprint + b"\n" + digest.encode()).hexdigest()
