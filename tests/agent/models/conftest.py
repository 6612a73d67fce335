"""What the tests of models start."""

from tests.support.fake_model import fake_model

__all__ = ["fake_model"]
