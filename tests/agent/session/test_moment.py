"""The time in the records: ISO, with milliseconds, in UTC."""

import pytest

from treblehook.agent.records import Moment


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000+00:00"),
        (1_732_934_000.1239, "2024-11-30T02:33:20.123+00:00"),
        (1_732_934_000.999, "2024-11-30T02:33:20.999+00:00"),
        (1_735_689_599.9999, "2024-12-31T23:59:59.999+00:00"),
    ],
)
def test_a_moment_is_told_to_the_millisecond(seconds: float, text: str) -> None:
    assert Moment(lambda: seconds).now() == text


def test_time_goes_on() -> None:
    times = iter([1.0, 1.0004, 1.0015, 2.0])
    moment = Moment(lambda: next(times))

    assert [moment.now()[17:23] for _ in range(4)] == ["01.000", "01.000", "01.001", "02.000"]
