"""Speed and accuracy, measured side by side with peers in one run: `python -m benchmarks.NAME`."""
