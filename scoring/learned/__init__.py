"""Metrics that are trained on human scores: examples, the regression, its file, and its use as a metric."""
