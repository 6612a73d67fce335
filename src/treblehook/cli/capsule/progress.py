"""What the user is told while hooks are compiled."""

from collections.abc import Callable

from treblehook.runtimes.wasm import Compiling


class CompilationProgress:
    """Says when the compilation of a hook begins and when it is over. `say` shows a line."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._begun: set[str] = set()

    def __call__(self, hook: str, compiling: Compiling) -> None:
        """The compilation of `hook` goes on."""
        if hook not in self._begun:
            self._begun.add(hook)
            self._say(f"compiling the hook {hook} ({compiling.bytes / 1_000_000:.1f} MB); it is kept for the next launch")
        if compiling.done:
            self._begun.discard(hook)
            self._say(f"compiled {hook} in {compiling.seconds:.1f} s")
