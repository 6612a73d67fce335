"""Signed deliveries live here: who may send them, how they are kept, and when they are handed to hooks (crucible.md 8)."""
