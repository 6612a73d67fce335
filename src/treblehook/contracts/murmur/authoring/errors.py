"""What keeps a hook from being built."""

from pathlib import Path


class BuildFailed(Exception):
    """`file` is what is wrong, `place` where in it ("" for the whole), `problem` what was found there, `remedy` what its author can do."""

    def __init__(self, file: Path, place: str, problem: str, remedy: str) -> None:
        where = f"{file}: {place}" if place else str(file)
        super().__init__(f"{where}: {problem}; {remedy}")
        self.file = file
        self.place = place
        self.problem = problem
        self.remedy = remedy
