"""What a release is good for: error bounds and error bars, from public quantities."""
