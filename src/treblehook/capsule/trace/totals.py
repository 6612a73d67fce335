"""What a launch, or a part of it, came to in numbers (murmur.md 3.5)."""

from msgspec import Struct


class Totals(Struct):
    """Counted from observations; a refused call is in none of them."""

    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0
    shell_calls: int = 0

    def less(self, before: "Totals") -> "Totals":
        """What has been added since `before`."""
        return Totals(*(getattr(self, name) - getattr(before, name) for name in self.__struct_fields__))
