"""Models that reviewers ask for: random effects of documents and workers, partial correlation, meta-analysis."""
