"""How accurate is a private chain for the same privacy? Ours beside every peer; `python -m benchmarks.accuracy`."""
