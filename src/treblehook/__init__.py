"""Treblehook runs the hooks of an AI agent: three published hook systems, one engine."""

__version__ = "0.1.0"
