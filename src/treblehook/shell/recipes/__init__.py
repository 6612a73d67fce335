"""Reading what `make`, `just` or `npm run` would run for a command lives here; nothing here runs anything or trusts a file's word.

A reader answers the body, or None: the text is what the file gives the recipe, or there is none. None says only that no body was
found, never that the call is safe (murmur.md 5.7).
"""

from treblehook.shell.recipes.recipe import recipe_of

__all__ = ["recipe_of"]
