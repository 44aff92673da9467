"""The remediator's answer: its text, its lint, and the box in which it runs."""
