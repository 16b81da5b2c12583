"""Mechanisms: counts in, a random stochastic matrix out."""
