"""The experiments of the papers, each a function from a scores table to named results."""
