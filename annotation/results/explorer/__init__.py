"""Any document with everything about it, found by words or by disagreement."""
