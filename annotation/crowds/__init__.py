"""Workers from outside, in the order of a dollar. A market is a `Market` (base.py); the rules of money stand once."""
