"""From a table, wherever it lies, to integer transition counts."""
