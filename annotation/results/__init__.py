"""What came out: quality, metrics, the report, the explorer."""
