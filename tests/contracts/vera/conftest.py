"""What the tests of vera's hooks in whole sessions share."""

from tests.support.nest import nest

__all__ = ["nest"]
