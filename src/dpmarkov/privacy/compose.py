"""Composition of directed pairs: several that happen together."""
