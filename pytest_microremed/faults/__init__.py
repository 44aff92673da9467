"""Faults: what they are, how they get into a system, and how they are taken back."""
