"""Accuracy for the same privacy, ours beside every peer: `python -m benchmarks.accuracy`."""
