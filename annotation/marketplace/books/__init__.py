"""Money: transfers between pots, prices and fees, and the triggers that keep what is written."""
