"""`treblehook --help`, beside the interpreter alone."""

from benchmarks.row import Limit, Line
from benchmarks.rows._commands import COMMAND, NOTHING, ROUNDS, started
from benchmarks.timing import fastest

LIMIT = Limit(at_most=5)


async def measure() -> list[Line]:
    best = await fastest({"ours": started((*COMMAND, "--help")), "floor": started(NOTHING)}, rounds=ROUNDS)
    return [Line("treblehook --help", "python -c pass", best["ours"], best["floor"], LIMIT)]
