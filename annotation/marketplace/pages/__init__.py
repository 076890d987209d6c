"""The marketplace's pages: for workers, requesters, the operator, and whoever comes to the door."""
