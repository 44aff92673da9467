"""Status checks: whether an injected fault is gone, and whether the target serves."""
