"""The notes of kilns live here: their files, their index, the watch over both, search and renaming; what a hook is may not.

`kilns.py` is all of a home's kilns as everybody else uses them, `kiln.py` one of them. Heavy libraries are loaded when they are needed.
"""

from treblehook.kiln.indexing.full_pass import ProcessComplete
from treblehook.kiln.indexing.run import Progress
from treblehook.kiln.kiln import Hearer
from treblehook.kiln.kilns import Kilns, KilnsMissing
from treblehook.kiln.places import read_kilns

__all__ = ["Hearer", "Kilns", "KilnsMissing", "ProcessComplete", "Progress", "read_kilns"]
