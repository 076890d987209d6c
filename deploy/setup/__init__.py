"""How the program gets onto a machine: which Python, what is looked at before a start, and the package.

`backend.py` builds the wheel; `pyramidion/` is what the wheel adds to the rooms.
"""
