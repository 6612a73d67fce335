"""The nearest rows, compared with sorting all of them."""

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treblehook.kiln.semantic import nearest

ROWS = numpy.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0], [0, 0]], dtype=numpy.float32)
EAST = numpy.array([1, 0], dtype=numpy.float32)


def test_nearest_first_and_equals_in_the_order_of_the_rows() -> None:
    assert [row for row, _ in nearest(ROWS, EAST, 5)] == [0, 3, 2, 1, 4]
    assert [row for row, _ in nearest(ROWS, EAST, 1)] == [0]


def test_each_with_its_cosine() -> None:
    assert nearest(ROWS, EAST, 3) == [(0, 1.0), (3, 1.0), (2, pytest.approx(0.6))]


def test_a_query_may_be_a_matrix_of_one() -> None:
    assert nearest(ROWS, EAST.reshape(1, 2), 2) == nearest(ROWS, EAST, 2)


@pytest.mark.parametrize("k", [0, -1])
def test_none_wanted_none_given(k: int) -> None:
    assert nearest(ROWS, EAST, k) == []


def test_nothing_is_near_in_an_empty_matrix() -> None:
    assert nearest(numpy.zeros((0, 2), dtype=numpy.float32), EAST, 3) == []


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), max_size=40), st.integers(0, 45))
def test_it_is_what_a_stable_sort_of_all_gives(values: list[float], k: int) -> None:
    matrix = numpy.array([[value, 0] for value in values], dtype=numpy.float32).reshape(-1, 2)

    found = nearest(matrix, EAST, k)

    assert found == sorted(enumerate(values), key=lambda pair: -pair[1])[:k]
