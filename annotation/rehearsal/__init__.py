"""A simulated crowd: people of known character who work over HTTP through the marketplace's own pages.

So a study can be rehearsed end to end before money is spent (docs/crowds/rehearsal.md).
"""
