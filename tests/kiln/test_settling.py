"""When a path has come to rest: each once, in order, none lost, none late."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from treblehook.kiln.watching.settling import Settling

QUIET, LONGEST = 3.0, 10.0


def test_a_path_comes_out_once_it_is_quiet() -> None:
    settling = Settling(QUIET, LONGEST)
    settling.touch(["a"], 0)
    settling.touch(["a"], 2)

    assert settling.due(4.9) == []
    assert settling.next_at() == 5
    assert settling.due(5) == ["a"]
    assert settling.due(100) == []
    assert settling.next_at() == float("inf")


def test_a_path_that_is_never_quiet_comes_out_after_the_longest_time() -> None:
    settling = Settling(QUIET, LONGEST)
    came = []
    for now in range(25):
        settling.touch(["log"], now)
        came += [(now, path) for path in settling.due(now)]

    assert came == [(10, "log"), (21, "log")]


@given(st.lists(st.sampled_from("abcdef"), min_size=1))
def test_paths_come_out_in_the_order_of_their_first_touch(paths: list[str]) -> None:
    settling = Settling(QUIET, LONGEST)
    settling.touch(paths, 0)

    assert settling.due(QUIET) == list(dict.fromkeys(paths))


class Machine(RuleBasedStateMachine):
    """Compared with a plain list of touches."""

    def __init__(self) -> None:
        super().__init__()
        self.settling = Settling(QUIET, LONGEST)
        self.now = 0.0
        self.touches: dict[str, list[float]] = {}

    def at(self, path: str) -> float:
        return min(self.touches[path][-1] + QUIET, self.touches[path][0] + LONGEST)

    @rule(paths=st.lists(st.sampled_from("abcd"), max_size=3))
    def touch(self, paths: list[str]) -> None:
        self.settling.touch(paths, self.now)
        for path in paths:
            self.touches.setdefault(path, []).append(self.now)

    @rule(seconds=st.floats(0, 12))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def take(self) -> None:
        expected = [path for path in self.touches if self.at(path) <= self.now]
        assert self.settling.due(self.now) == expected
        for path in expected:
            del self.touches[path]

    @precondition(lambda self: self.touches)
    @rule()
    def wait_for_the_next(self) -> None:
        self.now = max(self.now, self.settling.next_at())
        assert any(self.at(path) <= self.now for path in self.touches)

    @invariant()
    def nothing_is_lost(self) -> None:
        assert len(self.settling) == len(self.touches)
        assert self.settling.next_at() == min((self.at(path) for path in self.touches), default=float("inf"))


TestMachine = Machine.TestCase
