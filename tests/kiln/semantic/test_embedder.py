"""Texts become vectors offline: the nearer the meaning, the smaller the angle."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest

from treblehook.kiln.semantic import Embedder, nearest, open_embedder
from treblehook.kiln.semantic.word_vectors import LONGEST

WITHOUT_NETWORK = """
import socket
def refuse(*arguments, **options):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from treblehook.kiln.semantic import open_embedder
print(open_embedder().embed(["treasure"]).shape)
"""


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    found = open_embedder()
    assert found is not None
    return found


def lengths(embedder: Embedder, *texts: str) -> list[float]:
    return [round(float(length), 5) for length in numpy.linalg.norm(embedder.embed(texts), axis=1)]


def test_what_means_the_same_is_nearer_than_what_does_not(embedder: Embedder) -> None:
    notes = ["Baking sourdough bread in a cast iron pot", "Quarterly taxes and invoices", "The ship's cannon was fired at dawn"]

    found = nearest(embedder.embed(notes), embedder.embed(["how do I make a loaf with yeast"]), 3)

    assert found[0][0] == 0
    assert found[0][1] > found[1][1] + 0.1


def test_rows_are_float32_of_length_1_in_order(embedder: Embedder) -> None:
    rows = embedder.embed(["ship", "chest", "ship"])

    assert rows.shape == (3, embedder.dimensions)
    assert rows.dtype == numpy.float32
    assert lengths(embedder, "ship", "chest") == [1.0, 1.0]
    assert (rows[0] == rows[2]).all()
    assert not (rows[0] == rows[1]).all()


def test_a_text_without_a_word_is_near_to_nothing(embedder: Embedder) -> None:
    assert lengths(embedder, "", "ship", "") == [0.0, 1.0, 0.0]
    assert [score for _, score in nearest(embedder.embed(["ship"]), embedder.embed([""]), 1)] == [0.0]


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize(
    "text", ["Schatzsuche für Anfänger", "寶藏地圖", "🏴‍☠️", "half a pair \ud83c", "nul \x00 in it", "\n\t  x", "x" * 3999]
)
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    assert lengths(embedder, text) == [1.0]


def test_only_the_head_of_a_long_text_counts(embedder: Embedder) -> None:
    head = ("the treasure lies below the palm. " * 200)[:LONGEST]

    short, long = embedder.embed([head, head + "invoices and taxes " * 60_000])

    assert (short == long).all()


def test_the_batch_a_text_is_in_makes_no_difference(embedder: Embedder) -> None:
    texts = [f"note {number} about {'ships ' * (number % 7)}" for number in range(600)]

    together = embedder.embed(texts)

    assert (together[[0, 255, 256, 599]] == embedder.embed([texts[0], texts[255], texts[256], texts[599]])).all()


def test_several_threads_may_use_it(embedder: Embedder) -> None:
    texts = [[f"chest {number} of island {island}" for number in range(100)] for island in range(8)]

    with ThreadPoolExecutor(8) as pool:
        at_once = list(pool.map(embedder.embed, texts))

    assert all((rows == embedder.embed(batch)).all() for rows, batch in zip(at_once, texts, strict=True))


def test_it_opens_and_works_without_a_network_and_a_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}

    run = subprocess.run([sys.executable, "-c", WITHOUT_NETWORK], env=environment, capture_output=True, text=True, check=False)

    assert (run.stdout, run.returncode) == ("(1, 256)\n", 0), run.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["numpy", "wordllama"])
def test_without_the_extra_there_is_no_embedder(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "treblehook.kiln.semantic.word_vectors", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)

    assert open_embedder() is None


def test_a_broken_installation_is_not_taken_for_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "wordllama"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "treblehook.kiln.semantic.word_vectors", raising=False)
    monkeypatch.setitem(sys.modules, "safetensors", None)

    with pytest.raises(ModuleNotFoundError, match="safetensors"):
        open_embedder()


def test_importing_the_room_loads_neither_numpy_nor_the_vectors() -> None:
    code = "import sys, treblehook.kiln.semantic; print(sorted({'numpy', 'wordllama'} & set(sys.modules)))"

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout == "[]\n"
