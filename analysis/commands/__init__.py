"""One module per command of `python -m analysis`; see `analysis.cli` for what a module must have."""
