"""How a value that does not fit its type is told, from wherever in the value it is found."""

from treblehook.runtimes.wasm.errors import WrongValue

_LONGEST = 60


class Misfit(Exception):
    """Raised where a part does not fit; who holds that part puts its place in front, so nothing is spent on values that fit."""

    def __init__(self, found: object, allowed: str) -> None:
        super().__init__(allowed)
        self.found = found if isinstance(found, _Words) else _Words(_shown(found))
        self.allowed = allowed
        self.place = ""

    def inside(self, place: str) -> None:
        self.place = place + self.place

    def wrong(self, what: str) -> WrongValue:
        """The error for whoever gave `what`."""
        return WrongValue(what + self.place, str(self.found), self.allowed)


class _Words(str):
    __slots__ = ()


def words(text: str) -> str:
    """What was found, said in words instead of shown."""
    return _Words(text)


def _shown(value: object) -> str:
    if isinstance(value, (str, bytes)):
        # A long one is cut before it is shown, so that a wrong value costs no more than its beginning.
        text = repr(value[:_LONGEST])
        return f"{type(value).__name__} {text}" + ("…" if len(value) > _LONGEST else "")
    if value is None or isinstance(value, (bool, int, float)):
        if isinstance(value, int) and value.bit_length() > _LONGEST * 3:
            return "a huge number"
        return repr(value) if value is None else f"{type(value).__name__} {value!r}"
    return f"a {type(value).__name__}"
