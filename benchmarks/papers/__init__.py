"""Every table and figure of the four papers, as far as their text allows: `python -m benchmarks.papers`."""
