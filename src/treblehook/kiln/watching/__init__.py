"""Noticing what changes in a kiln's folder lives here; what is made of it may not.

The libraries that watch are loaded with the first watcher.
"""
