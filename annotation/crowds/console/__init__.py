"""The admins' pages: launch, monitor, workers, ledger."""
