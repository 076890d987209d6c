"""A batch on a market for programs: launch, what was handed in, verdicts and bonuses."""
