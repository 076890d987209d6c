"""Who sits where: the places of a posting, and the tokens by which workers come back to theirs."""
