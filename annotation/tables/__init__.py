"""A study as tables: what the analysis, the exports and the pages read."""
