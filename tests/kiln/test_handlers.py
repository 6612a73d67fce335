"""Handlers of note events, through the engine: they react, and cannot undo what has happened."""

import asyncio

from tests.support.hooks import registry_of
from tests.support.kiln_rig import KilnRig, note
