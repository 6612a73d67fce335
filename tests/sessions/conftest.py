"""What the tests of whole sessions share."""

from tests.support.nest import nest

__all__ = ["nest"]
