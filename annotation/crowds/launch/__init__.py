"""Offering a batch to a market: the form, the quote, publishing, adding to it, closing it."""
