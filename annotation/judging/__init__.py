"""From a lease to the receipt: draft, submit, next task."""
