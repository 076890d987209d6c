"""The demo's accounts, one for each role and named after it: public by design, and nobody outside the demo."""

DEMO_ACCOUNTS = ("annotator", "admin", "analyst")
PASSWORD = "demo"  # noqa: S105  of the marketplace's demo accounts too
