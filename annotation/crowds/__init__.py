"""Where workers come from: one file per crowd, each a `Market` (base.py). The money rules stand around them, once."""
