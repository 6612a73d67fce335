"""Which tools may not run on the host: whoever runs them elsewhere has claimed them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct


class Claim(Struct, frozen=True):
    """`owner` requires that calls of `tools` are replaced by a hook, in one session or ("") in all of them."""

    owner: str
    tools: frozenset[str]
    reason: str
    session: str = ""

    def refusal(self, tool: str) -> str:
        """What is said of a call that no hook has replaced."""
        because = f": {self.reason.strip()}" if self.reason.strip() else "."
        return f"{self.owner} requires isolation for {tool}, and no hook has taken this call over{because}\n\nThe tool did not run."


class Isolation:
    """The claims of one home. A claim stands until its owner is cleared, so it outlives hooks that are gone, broken or not there yet."""

    def __init__(self) -> None:
        self._claims: dict[str, list[Claim]] = {}

    def require(self, owner: str, tools: Sequence[str], reason: str, session: str = "") -> None:
        """Claim tools, beside what the owner has claimed before."""
        self._claims.setdefault(owner, []).append(Claim(owner, frozenset(tools), reason, session))

    def claim_on(self, session: str, tool: str) -> Claim | None:
        """The oldest claim on a tool in a session, or None where it may run on the host."""
        for claims in self._claims.values():
            for claim in claims:
                if tool in claim.tools and claim.session in ("", session):
                    return claim
        return None

    @contextmanager
    def renewed(self, owner: str) -> Iterator[None]:
        """While `owner` is loaded again: its claims on all sessions give way to those made inside, unless that fails with an error.

        Until then both stand. What it has claimed for one session goes on until that session ends.
        """
        before = list(self._claims.get(owner, ()))
        yield
        replaced = [claim for claim in before if not claim.session]
        self._keep(owner, [claim for claim in self._claims.get(owner, ()) if not any(claim is old for old in replaced)])

    def clear(self, owner: str) -> None:
        """The owner is there no more, and wants nothing isolated."""
        self._keep(owner, [])

    def end_session(self, session: str) -> None:
        """Forget the claims on one session, which has ended."""
        for owner, claims in list(self._claims.items()):
            self._keep(owner, [claim for claim in claims if claim.session != session or not session])

    def _keep(self, owner: str, claims: list[Claim]) -> None:
        if claims:
            self._claims[owner] = claims
        else:
            self._claims.pop(owner, None)
