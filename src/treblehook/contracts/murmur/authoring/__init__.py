"""What an author of murmur hooks needs lives here: from a source file to a component to a package, and firing one event at it to see what
it says. Running hooks in a session may not."""

from pathlib import Path
from typing import Final

AUTHOR_TYPES: Final = Path(__file__).parent / "python" / "murmur_hook.py.txt"
"""What a hook in Python works with; a project gets a copy for editors and tests."""
