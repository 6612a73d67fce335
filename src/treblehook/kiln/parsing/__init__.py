"""What a note says lives here: text becomes title, headings, tags and links; files and the index may not.

Nothing here raises, whatever the text is.
"""

from treblehook.kiln.parsing.links import Link, link_key
from treblehook.kiln.parsing.note import ParsedNote, links_of, parse

__all__ = ["Link", "ParsedNote", "link_key", "links_of", "parse"]
