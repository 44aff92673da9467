"""The systems under test: their data, their deployment, and the way back to their healthy state."""
